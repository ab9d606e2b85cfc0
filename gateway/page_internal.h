/* page_internal.h - what the page is made of besides what it shows. */
#pragma once

extern const char page_style[], page_script[]; /* page/style.css, page/script.js */
