/* http_options.c - the options of one exchange. */
#include "prober/http_options.h"
#include "base/socket_address.h"
#include "base/take.h"
#include <errno.h>
#include <string.h>

#define BUFFER_BYTES  4096L
#define LAST_MSEC     1000 /* beyond the caller's limit, for the rest of an answer */
#define EYEBALLS_MSEC 50L

bool http_url_is_allowed(const char *url, bool hook) {
        CURLU *parts = curl_url();
        char *scheme = NULL, *host = NULL;
        bool allowed = parts && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
                       curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                       curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK;

        if (allowed && hook)
                allowed = strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0;
        else if (allowed)
                allowed = strcmp(scheme, "http") == 0 && socket_address_is_host(host);
        curl_free(scheme);
        curl_free(host);
        curl_url_cleanup(parts);
        return allowed;
}

/* What a method means to libcurl: HEAD has no body to wait for, and some servers refuse one of these without a length.
 */
static CURLcode set_method(CURL *easy, const char *method) {
        CURLcode code = CURLE_OK;

        if (strcmp(method, "GET") == 0)
                return CURLE_OK;
        if (strcmp(method, "HEAD") == 0)
                return curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
        if (strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 || strcmp(method, "PATCH") == 0) {
                code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, 0L);
                if (code == CURLE_OK)
                        code = curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, "");
        }
        return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method) : code;
}

typedef struct Long {
        CURLoption option;
        long value;
} Long;

static CURLcode set_longs(CURL *easy) {
        static const Long longs[] = {
                { CURLOPT_NOSIGNAL, 1 },
                { CURLOPT_QUICK_EXIT, 1 }, /* the end of one that still resolves its name waits for no resolver */
                { CURLOPT_FRESH_CONNECT, 1 },
                { CURLOPT_FORBID_REUSE, 1 },
                { CURLOPT_FOLLOWLOCATION, 0 },
                { CURLOPT_PATH_AS_IS, 1 },
                { CURLOPT_DNS_CACHE_TIMEOUT, 0 },
                { CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1 },
                { CURLOPT_HTTP09_ALLOWED, 0 },
                { CURLOPT_BUFFERSIZE, BUFFER_BYTES },
                { CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, EYEBALLS_MSEC },
                { CURLOPT_NETRC, CURL_NETRC_IGNORED },
                { CURLOPT_SSL_VERIFYPEER, 1 },
                { CURLOPT_SSL_VERIFYHOST, 2 },
        };
        CURLcode code = CURLE_OK;

        for (size_t i = 0; i < LENGTH_OF(longs) && code == CURLE_OK; i++)
                code = curl_easy_setopt(easy, longs[i].option, longs[i].value);
        return code;
}

/* As the programs of OpenSSL have it: images bring their own bundle. */
static CURLcode set_certificates(CURL *easy) {
        const char *file = getenv("SSL_CERT_FILE"), *folder = getenv("SSL_CERT_DIR");
        CURLcode code = CURLE_OK;

        if (file && *file)
                code = curl_easy_setopt(easy, CURLOPT_CAINFO, file);
        if (folder && *folder && code == CURLE_OK)
                code = curl_easy_setopt(easy, CURLOPT_CAPATH, folder);
        return code;
}

typedef struct Text {
        CURLoption option;
        const char *value;
} Text;

static CURLcode set_texts(CURL *easy, const HttpRequest *request) {
        const Text texts[] = {
                { CURLOPT_URL, request->url }, { CURLOPT_PROTOCOLS_STR, request->hook ? "http,https" : "http" },
                { CURLOPT_PROXY, "" }, /* none, whatever the environment says */
                { CURLOPT_NOPROXY, "*" },      { CURLOPT_USERAGENT, "endwell/" ENDWELL_VERSION },
        };
        CURLcode code = CURLE_OK;

        for (size_t i = 0; i < LENGTH_OF(texts) && code == CURLE_OK; i++)
                code = curl_easy_setopt(easy, texts[i].option, texts[i].value);
        return code;
}

static CURLcode set_all(CURL *easy, const HttpRequest *request) {
        usec_t msec = usec_min(request->timeout_usec / USEC_PER_MSEC + LAST_MSEC, INT32_MAX);
        CURLcode code = curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)msec);

        if (code == CURLE_OK)
                code = set_longs(easy);
        if (code == CURLE_OK)
                code = set_texts(easy, request);
        if (code == CURLE_OK && request->hook)
                code = set_certificates(easy);
        return code == CURLE_OK ? set_method(easy, request->method) : code;
}

int http_options_set(CURL *easy, const HttpRequest *request, struct curl_slist **ret_headers) {
        /* An empty body is not a form, and nobody shall be waited for with it. */
        struct curl_slist *headers = curl_slist_append(NULL, "Content-Type:");

        if (!headers || !curl_slist_append(headers, "Expect:") ||
            curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers) != CURLE_OK || set_all(easy, request) != CURLE_OK) {
                curl_slist_free_all(headers);
                return -ENOMEM;
        }
        *ret_headers = headers;
        return 0;
}
