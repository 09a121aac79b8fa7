#include "CFloor.h"
#include "reader.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct lane {
    struct cfloor *floor;
    CURL *easy;
    char *bytes;
    size_t room;
    size_t count;
    int file;
    reader_t reader;
    int requests;
    int failures;
};

struct cfloor {
    cfloor_settings settings;
    CURLM *multi;
    struct lane *lanes;
};

static size_t on_body(char *bytes, size_t size, size_t count, void *context) {
    struct lane *lane = context;
    size_t length = size * count;
    if (lane->floor->settings.body == CFLOOR_FILE) return (size_t)write(lane->file, bytes, length);
    if (lane->floor->settings.body == CFLOOR_DISCARD) return length;
    if (lane->reader) {
        reader_give(lane->reader, bytes, length);
        return length;
    }
    if (!lane->bytes) {
        curl_off_t expected = -1;
        curl_easy_getinfo(lane->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &expected);
        lane->room = expected > 0 ? (size_t)expected : 1 << 20;
        lane->bytes = malloc(lane->room);
    }
    if (lane->count + length > lane->room) {
        lane->room = (lane->count + length) * 2;
        lane->bytes = realloc(lane->bytes, lane->room);
    }
    memcpy(lane->bytes + lane->count, bytes, length);
    lane->count += length;
    return length;
}

static void begin(struct lane *lane) {
    if (lane->floor->settings.body == CFLOOR_FILE) {
        lane->file = open(lane->floor->settings.file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    }
}

static void end(struct lane *lane, CURLcode code) {
    if (code != CURLE_OK) lane->failures++;
    if (lane->floor->settings.body == CFLOOR_FILE) close(lane->file);
    if (lane->reader) reader_flush(lane->reader);
    free(lane->bytes);
    lane->bytes = NULL;
    lane->count = 0;
}

cfloor_t cfloor_open(const cfloor_settings *settings) {
    struct cfloor *floor = calloc(1, sizeof *floor);
    floor->settings = *settings;
    floor->settings.url = strdup(settings->url);
    floor->settings.roots = settings->roots ? strdup(settings->roots) : NULL;
    floor->settings.file = settings->file ? strdup(settings->file) : NULL;
    floor->multi = curl_multi_init();
    floor->lanes = calloc(settings->in_flight, sizeof *floor->lanes);
    for (int i = 0; i < settings->in_flight; i++) {
        struct lane *lane = &floor->lanes[i];
        lane->floor = floor;
        if (settings->body == CFLOOR_READER) lane->reader = reader_open();
        lane->easy = curl_easy_init();
        curl_easy_setopt(lane->easy, CURLOPT_URL, floor->settings.url);
        curl_easy_setopt(lane->easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(lane->easy, CURLOPT_WRITEFUNCTION, on_body);
        curl_easy_setopt(lane->easy, CURLOPT_WRITEDATA, lane);
        curl_easy_setopt(lane->easy, CURLOPT_PRIVATE, lane);
        if (settings->decodes) curl_easy_setopt(lane->easy, CURLOPT_ACCEPT_ENCODING, "");
        if (settings->buffer_size) curl_easy_setopt(lane->easy, CURLOPT_BUFFERSIZE, settings->buffer_size);
        if (floor->settings.roots) {
            curl_easy_setopt(lane->easy, CURLOPT_CAPATH, NULL);
            curl_easy_setopt(lane->easy, CURLOPT_CAINFO, floor->settings.roots);
        }
        curl_easy_setopt(
            lane->easy, CURLOPT_HTTP_VERSION, (long)(settings->http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
        );
        if (settings->http2) curl_easy_setopt(lane->easy, CURLOPT_PIPEWAIT, 1L);
    }
    return floor;
}

void cfloor_close(cfloor_t floor) {
    for (int i = 0; i < floor->settings.in_flight; i++) {
        curl_easy_cleanup(floor->lanes[i].easy);
        if (floor->lanes[i].reader) reader_close(floor->lanes[i].reader);
    }
    curl_multi_cleanup(floor->multi);
    free(floor->lanes);
    free((void *)floor->settings.url);
    free((void *)floor->settings.roots);
    free((void *)floor->settings.file);
    free(floor);
}

static void *run_lane(void *context) {
    struct lane *lane = context;
    for (int i = 0; i < lane->requests; i++) {
        begin(lane);
        end(lane, curl_easy_perform(lane->easy));
    }
    return NULL;
}

int cfloor_run_threads(cfloor_t floor, int requests) {
    int count = floor->settings.in_flight;
    pthread_t *threads = calloc(count, sizeof *threads);
    for (int i = 0; i < count; i++) {
        floor->lanes[i].failures = 0;
        floor->lanes[i].requests = requests / count + (i < requests % count);
        if (count == 1) run_lane(&floor->lanes[i]);
        else pthread_create(&threads[i], NULL, run_lane, &floor->lanes[i]);
    }
    int failures = 0;
    for (int i = 0; i < count; i++) {
        if (count > 1) pthread_join(threads[i], NULL);
        failures += floor->lanes[i].failures;
    }
    free(threads);
    return failures;
}

struct handover {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t asked;
    struct lane *lane;
    cfloor_done done;
    void *context;
    bool is_over;
};

static void *answer(void *context) {
    struct handover *handover = context;
    pthread_mutex_lock(&handover->mutex);
    for (;;) {
        while (!handover->done && !handover->is_over) pthread_cond_wait(&handover->asked, &handover->mutex);
        if (handover->is_over) break;
        cfloor_done done = handover->done;
        void *asker = handover->context;
        handover->done = NULL;
        pthread_mutex_unlock(&handover->mutex);
        CURLcode code = curl_easy_perform(handover->lane->easy);
        end(handover->lane, code);
        done(asker, code != CURLE_OK);
        pthread_mutex_lock(&handover->mutex);
    }
    pthread_mutex_unlock(&handover->mutex);
    return NULL;
}

cfloor_handover_t cfloor_hand_over(cfloor_t floor) {
    struct handover *handover = calloc(1, sizeof *handover);
    pthread_mutex_init(&handover->mutex, NULL);
    pthread_cond_init(&handover->asked, NULL);
    handover->lane = &floor->lanes[0];
    pthread_create(&handover->thread, NULL, answer, handover);
    return handover;
}

void cfloor_ask(cfloor_handover_t handover, cfloor_done done, void *context) {
    pthread_mutex_lock(&handover->mutex);
    handover->done = done;
    handover->context = context;
    pthread_cond_signal(&handover->asked);
    pthread_mutex_unlock(&handover->mutex);
}

void cfloor_take_back(cfloor_handover_t handover) {
    pthread_mutex_lock(&handover->mutex);
    handover->is_over = true;
    pthread_cond_signal(&handover->asked);
    pthread_mutex_unlock(&handover->mutex);
    pthread_join(handover->thread, NULL);
    pthread_cond_destroy(&handover->asked);
    pthread_mutex_destroy(&handover->mutex);
    free(handover);
}

struct waiting {
    pthread_mutex_t mutex;
    pthread_cond_t answered;
    bool is_answered;
    int failures;
};

static void wake(void *context, bool failed) {
    struct waiting *waiting = context;
    pthread_mutex_lock(&waiting->mutex);
    waiting->failures += failed;
    waiting->is_answered = true;
    pthread_cond_signal(&waiting->answered);
    pthread_mutex_unlock(&waiting->mutex);
}

int cfloor_run_handed_over(cfloor_t floor, int requests) {
    struct waiting waiting = {.mutex = PTHREAD_MUTEX_INITIALIZER, .answered = PTHREAD_COND_INITIALIZER};
    cfloor_handover_t handover = cfloor_hand_over(floor);
    for (int i = 0; i < requests; i++) {
        waiting.is_answered = false;
        cfloor_ask(handover, wake, &waiting);
        pthread_mutex_lock(&waiting.mutex);
        while (!waiting.is_answered) pthread_cond_wait(&waiting.answered, &waiting.mutex);
        pthread_mutex_unlock(&waiting.mutex);
    }
    cfloor_take_back(handover);
    return waiting.failures;
}

int cfloor_run_multi(cfloor_t floor, int requests) {
    int started = 0, ended = 0, failures = 0, running = 0, left = 0;
    for (; started < floor->settings.in_flight && started < requests; started++) {
        begin(&floor->lanes[started]);
        curl_multi_add_handle(floor->multi, floor->lanes[started].easy);
    }
    while (ended < requests) {
        curl_multi_perform(floor->multi, &running);
        CURLMsg *message;
        while ((message = curl_multi_info_read(floor->multi, &left))) {
            CURL *easy = message->easy_handle;
            CURLcode code = message->data.result;
            struct lane *lane;
            curl_easy_getinfo(easy, CURLINFO_PRIVATE, &lane);
            curl_multi_remove_handle(floor->multi, easy);
            end(lane, code);
            failures += code != CURLE_OK;
            ended++;
            if (started < requests) {
                started++;
                begin(lane);
                curl_multi_add_handle(floor->multi, easy);
            }
        }
        if (ended < requests) curl_multi_poll(floor->multi, NULL, 0, 1000, NULL);
    }
    return failures;
}

bool cfloor_wrk(const char *command, double *requests_per_second, double *cpu) {
    struct rusage before, after;
    getrusage(RUSAGE_CHILDREN, &before);
    FILE *output = popen(command, "r");
    if (!output) return false;
    char line[512];
    double requests = 0;
    *requests_per_second = 0;
    while (fgets(line, sizeof line, output)) {
        double value;
        if (sscanf(line, "Requests/sec: %lf", &value) == 1) *requests_per_second = value;
        if (strstr(line, "requests in") && sscanf(line, " %lf requests in", &value) == 1) requests = value;
    }
    if (pclose(output) != 0 || requests == 0) return false;
    getrusage(RUSAGE_CHILDREN, &after);
    double user = after.ru_utime.tv_sec - before.ru_utime.tv_sec + (after.ru_utime.tv_usec - before.ru_utime.tv_usec) * 1e-6;
    double kernel = after.ru_stime.tv_sec - before.ru_stime.tv_sec + (after.ru_stime.tv_usec - before.ru_stime.tv_usec) * 1e-6;
    *cpu = (user + kernel) * 1e9 / requests;
    return true;
}
