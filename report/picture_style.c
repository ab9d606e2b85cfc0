/* picture_style.c - the colours of the picture; see picture.h. */
#include "report/picture.h"

/* No var(): programs that are no browser read a picture, too. */
#define RULES(paper, ink, soft, grid, band, run, drain, hook, good, warning, bad)                                      \
        ".pic .paper{fill:" paper "}.pic text{fill:" ink "}.pic .soft{fill:" soft "}"                                  \
        ".pic .grid{stroke:" grid "}.pic .edge{stroke:" soft "}.pic .band{fill:" band "}.pic .rule{stroke:" grid "}"   \
        ".pic .run{fill:" run "}.pic .drain{fill:" drain "}.pic .hook{fill:" paper ";stroke:" hook "}"                 \
        ".pic .thread{stroke:" run "}.pic .goodbar{fill:" good "}.pic .badbar{fill:" bad "}.pic .allowed{fill:" grid   \
        "}"                                                                                                            \
        ".pic .limit{stroke:" warning "}.pic .reserve{fill:" warning "}.pic text.good{fill:" good                      \
        "}.pic text.warning{fill:" warning "}.pic text.bad{fill:" bad "}"                                              \
        ".pic .m{stroke:" paper "}.pic .m.ink{fill:" ink "}.pic .m.good{fill:" good "}.pic .m.warning{fill:" warning   \
        "}.pic .m.bad{fill:" bad "}"                                                                                   \
        ".pic .cross{stroke:" bad "}.pic .flag{fill:" bad "}.pic text.onflag{fill:" paper                              \
        "}.pic.narrow text{stroke:" paper "}.pic.narrow text.onflag{stroke:none}"

const char *picture_style(void) {
        return ".pic text{font:12px system-ui,-apple-system,\"Segoe UI\",\"Liberation Sans\",Arial,sans-serif}"
               ".pic text.strong{font-weight:600}.pic text.small{font-size:11px}.pic text.big{font-size:20px;"
               "font-weight:650}.pic .grid,.pic .rule{stroke-width:1}.pic .edge{fill:none;stroke-width:1}.pic "
               ".limit{stroke-width:1.5;stroke-dasharray:4 3}.pic .hook{stroke-width:1.5}.pic .thread{stroke-width:2}"
               ".pic .m{stroke-width:1}.pic .cross{stroke-width:2.5;stroke-linecap:round}.pic .reserve{opacity:.18}"
               ".pic text.onflag{font-size:10px;font-weight:700}.pic.narrow "
               "text{paint-order:stroke;stroke-width:3px}" RULES(
                       "#ffffff", "#1b2027", "#5a6573", "#e1e5ea", "#f2f5f9", "#b7c2d0", "#2b6cd4", "#7d4cc9",
                       "#1a7f46", "#9a5b00",
                       "#c62b1d") "@media screen and (prefers-color-scheme:dark){" RULES("#14181e", "#e7ebf0",
                                                                                         "#9aa6b4", "#2b323b",
                                                                                         "#1c222a", "#55616f",
                                                                                         "#5b9bff", "#b08cf0",
                                                                                         "#46c07c", "#e0a33e",
                                                                                         "#ff6b5c") "}";
}
