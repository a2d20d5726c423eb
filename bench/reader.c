//go:build ignore

// reader is the floor of the bench: the least that a client can do to know when
// each event came. One thread, epoll, one recvmsg per event with the kernel's
// receive time, a scan for the events' ends, and the next request after the last
// event of an answer.
//
//   reader PORT STREAMS SECONDS [stamps]
//
// With stamps it compares the receive time with the stamp in the event's content. It
// prints: events, events that shared their read with an earlier one, and the
// nanoseconds of the stamp errors' p50 and p99, -1 without.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_STREAMS = 16384, MAX_ERRORS = 4 << 20, STAMP_DIGITS = 19 };

static const char request[] =
    "POST /v1/chat/completions HTTP/1.1\r\nHost: b\r\nContent-Type: application/json\r\nContent-Length: 88\r\n\r\n"
    "{\"model\":\"bench-model\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"Count on.\"}]}";

struct stream { int fd, held; char buf[16384]; };

static struct stream *streams[MAX_STREAMS];
static int64_t *errors;
static int64_t events, shared, wrong;
static int stamps;

static int64_t clock_ns(clockid_t c) {
  struct timespec t;
  clock_gettime(c, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static void note(const char *event, int64_t at) {
  static const char key[] = "\"},\"logprobs\"";
  const char *end = memmem(event, 400, key, sizeof key - 1);
  if (!end || wrong >= MAX_ERRORS) return;
  int64_t sent = 0;
  for (const char *p = end - STAMP_DIGITS; p < end; p++) sent = sent * 10 + (*p - '0');
  errors[wrong++] = at - sent;
}

// take reads once; 1 asks for the next request, -1 says that the connection has gone.
static int take(struct stream *s) {
  char control[64];
  struct iovec v = {s->buf + s->held, sizeof s->buf - 1 - s->held};
  struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  ssize_t n = recvmsg(s->fd, &m, MSG_DONTWAIT);
  if (n <= 0) return n < 0 && errno == EAGAIN ? 0 : -1;
  int64_t at = clock_ns(CLOCK_MONOTONIC);
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  if (c && c->cmsg_type == SCM_TIMESTAMPNS) {
    struct timespec t;
    memcpy(&t, CMSG_DATA(c), sizeof t);
    at -= clock_ns(CLOCK_REALTIME) - (t.tv_sec * 1000000000LL + t.tv_nsec);
  }
  s->held += n;
  s->buf[s->held] = 0;
  char *p = s->buf, *end = s->buf + s->held;
  int here = 0, done = 0;
  char *only = p;
  for (;;) {
    char *stop = memmem(p, end - p, "\n\n", 2);
    if (!stop) break;
    char *data = memmem(p, stop - p, "data: ", 6);
    if (data && data[6] == '[') done = 1;
    else if (data && memmem(data, stop - data, "\"content\"", 9)) {
      only = data;
      here++;
    }
    p = stop + 2;
  }
  events += here;
  if (here > 1) shared += here - 1;
  if (stamps && here == 1) note(only, at);
  s->held = end - p;
  memmove(s->buf, p, s->held);
  if (done) s->held = 0;
  return done;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  int n = atoi(argv[2]), ep = epoll_create1(0);
  double seconds = atof(argv[3]);
  stamps = argc > 4;
  errors = malloc(MAX_ERRORS * sizeof *errors);
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  for (int i = 0; i < n; i++) {
    struct stream *s = calloc(1, sizeof *s);
    int one = 1;
    s->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(s->fd, (struct sockaddr *)&a, sizeof a)) { perror("connect"); return 1; }
    setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(s->fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
    streams[i] = s;
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = s};
    epoll_ctl(ep, EPOLL_CTL_ADD, s->fd, &e);
    if (write(s->fd, request, sizeof request - 1) < 0) return 1;
  }
  int64_t until = clock_ns(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9);
  while (clock_ns(CLOCK_MONOTONIC) < until) {
    struct epoll_event ready[256];
    int k = epoll_wait(ep, ready, 256, 100);
    for (int i = 0; i < k; i++) {
      struct stream *s = ready[i].data.ptr;
      int r = take(s);
      if (r < 0) { fprintf(stderr, "a connection has gone\n"); return 1; }
      if (r > 0 && write(s->fd, request, sizeof request - 1) < 0) return 1;
    }
  }
  qsort(errors, wrong, sizeof *errors, ascending);
  printf("%lld %lld %lld %lld\n", (long long)events, (long long)shared,
         wrong ? (long long)errors[wrong / 2] : -1, wrong ? (long long)errors[wrong * 99 / 100] : -1);
}
