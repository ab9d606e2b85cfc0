/* findings_json.h - findings as the JSON that the contract promises to machines.
 *
 * {"verdict", "level", "hooks": [{"hook", "verdict", "properties": {…}, "masks"}], "pairs": [{"hooks", "verdict"}]}.
 * A verdict is one of four words; a note and litter are PASS with a "remark". Text that is not UTF-8 is escaped. */
#pragma once
#include "verify/findings.h"
#include <jansson.h>

int findings_to_json(const Findings *findings, json_t **ret); /* 0 or -ENOMEM */
