/* http_options.h - what libcurl is told of one exchange: how it goes, and above all what it must not do; private to
 * http. */
#pragma once
#include "prober/http.h"
#include <curl/curl.h>

bool http_url_is_allowed(const char *url, bool hook);
/* 0; or -ENOMEM: libcurl refuses for want of memory only, the options are its own. The headers are freed by the caller,
 * after the handle. */
int http_options_set(CURL *easy, const HttpRequest *request, struct curl_slist **ret_headers);
