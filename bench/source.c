//go:build ignore

// source is the token source of the bench: an HTTP/1.1 server on one thread that
// answers every request with the same stream of server-sent events, one write per
// event, and stamps each event with CLOCK_MONOTONIC right before the write.
//
//   source TOKENS INTERVAL_US spread|burst
//
// spread: every stream has a phase of its own. burst: all streams get their tokens
// at the same ticks, as from one step of an inference engine. An interval of 0 sends
// as fast as the sockets take it. It listens on a free port of 127.0.0.1, prints the
// port, and at every line of its standard input, and when that ends, the number of
// token events sent, the CPU time that it used, how late it was in the mean and at
// most, and the integral of the answers being sent over time; all times in seconds.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_STREAMS = 16384, MAX_FD = 32768, EVENT_BYTES = 272, STAMP_DIGITS = 19 };

// A frame has this many bytes with its framing as a chunk of HTTP: "108\r\n" … "\r\n".
static char frame[EVENT_BYTES + 64];
static int frame_len, stamp_at;

static const char head[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
static char tail[1024];
static int tail_len;

struct stream {
  int fd, sent;       // token events sent of the answer
  int64_t due;        // when the next one is
  int active;         // an answer is being sent
  int heap;           // place in the heap
  int got;            // bytes of the request
  char request[8192]; // requests are small; one at a time
};

static struct stream *streams[MAX_FD];
static struct stream *heap[MAX_STREAMS];
static int heaped;
static int64_t interval, total, late_sum, late_max;
static int64_t stream_ns, counted; // answers being sent, integrated up to this time
static int tokens, burst;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// count_to brings the integral up to t; called whenever an answer begins or ends.
static void count_to(int64_t t) {
  stream_ns += heaped * (t - counted);
  counted = t;
}

static void place(int i, struct stream *s) { heap[i] = s; s->heap = i; }

static void up(int i) {
  struct stream *s = heap[i];
  for (; i > 0 && heap[(i - 1) / 2]->due > s->due; i = (i - 1) / 2) place(i, heap[(i - 1) / 2]);
  place(i, s);
}

static void down(int i) {
  struct stream *s = heap[i];
  for (;;) {
    int c = 2 * i + 1;
    if (c >= heaped) break;
    if (c + 1 < heaped && heap[c + 1]->due < heap[c]->due) c++;
    if (heap[c]->due >= s->due) break;
    place(i, heap[c]);
    i = c;
  }
  place(i, s);
}

static void unheap(struct stream *s) {
  int i = s->heap;
  count_to(now());
  struct stream *last = heap[--heaped];
  s->active = 0;
  if (last == s) return;
  place(i, last);
  up(i);
  down(last->heap);
}

static void drop(struct stream *s) {
  if (s->active) unheap(s);
  streams[s->fd] = NULL;
  close(s->fd);
  free(s);
}

// put writes whole; the socket's buffer holds an answer, so it must fit.
static int put(struct stream *s, const char *b, int n) {
  return write(s->fd, b, n) == n ? 0 : -1;
}

static void prepare(void) {
  char body[EVENT_BYTES + 1];
  const char *before =
      "data: {\"id\":\"chatcmpl-0123456789abcdef0123456789abcdef\",\"object\":\"chat.completion.chunk\","
      "\"created\":1764500000,\"model\":\"bench-model\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"";
  const char *after = "\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n";
  // The stamp and padding in front of it fill the event up to its size.
  int content = EVENT_BYTES - 7 - (int)strlen(before) - (int)strlen(after);
  int n = snprintf(body, sizeof body, "%s%0*d%s", before, content, 0, after);
  frame_len = sprintf(frame, "%x\r\n%s\r\n", n, body);
  stamp_at = (int)(strstr(frame, "\"content\":\"") - frame) + 11 + content - STAMP_DIGITS;

  char last[512];
  n = snprintf(last, sizeof last,
              "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1764500000,\"model\":\"bench-model\","
              "\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],"
              "\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\ndata: [DONE]\n\n",
              tokens, tokens + 8);
  tail_len = sprintf(tail, "%x\r\n%s\r\n0\r\n\r\n", n, last);
}

// begin answers a request: the head now, the tokens when they are due.
static void begin(struct stream *s) {
  if (put(s, head, sizeof head - 1) < 0) { drop(s); return; }
  int64_t t = now();
  count_to(t);
  s->sent = 0;
  s->active = 1;
  if (burst && interval > 0) s->due = (t / interval + 1) * interval;
  else s->due = t + (interval > 0 ? random() % interval : 0);
  place(heaped++, s);
  up(s->heap);
}

static void send_token(struct stream *s, int64_t t) {
  late_sum += t - s->due;
  if (t - s->due > late_max) late_max = t - s->due;
  int64_t v = now();
  for (int i = STAMP_DIGITS - 1; i >= 0; i--, v /= 10) frame[stamp_at + i] = '0' + v % 10;
  if (put(s, frame, frame_len) < 0) { drop(s); return; }
  total++;
  s->due += interval;
  if (++s->sent < tokens) { down(s->heap); return; }
  unheap(s);
  if (put(s, tail, tail_len) < 0) drop(s);
}

// receive reads until a request is whole: its head, and the body that it announces.
static void receive(struct stream *s) {
  int n = read(s->fd, s->request + s->got, sizeof s->request - 1 - s->got);
  if (n <= 0) { if (n == 0 || errno != EAGAIN) drop(s); return; }
  s->got += n;
  s->request[s->got] = 0;
  char *end = strstr(s->request, "\r\n\r\n");
  if (!end) return;
  char *length = strcasestr(s->request, "\r\ncontent-length:");
  int need = (int)(end - s->request) + 4 + (length && length < end ? atoi(length + 17) : 0);
  if (s->got < need) return;
  s->got = 0;
  begin(s);
}

static void welcome(int listener, int ep) {
  for (;;) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (fd < 0) return;
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct stream *s = calloc(1, sizeof *s);
    s->fd = fd;
    streams[fd] = s;
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
  }
}

static void report(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  count_to(now());
  printf("%lld %.6f %.6f %.6f %.6f\n", (long long)total,
         u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6,
         total ? late_sum / 1e9 / total : 0.0, late_max / 1e9, stream_ns / 1e9);
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  tokens = atoi(argv[1]);
  interval = atoll(argv[2]) * 1000;
  burst = argv[3][0] == 'b';
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_TIMERSLACK, 1);
  struct rlimit files; // a descriptor for each stream
  if (!getrlimit(RLIMIT_NOFILE, &files)) files.rlim_cur = files.rlim_max, setrlimit(RLIMIT_NOFILE, &files);
  prepare();
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof a;
  if (bind(listener, (struct sockaddr *)&a, sizeof a) || listen(listener, 4096) || getsockname(listener, (struct sockaddr *)&a, &size)) {
    perror("listen");
    return 1;
  }
  int ep = epoll_create1(0);
  struct epoll_event e = {.events = EPOLLIN, .data.fd = listener};
  epoll_ctl(ep, EPOLL_CTL_ADD, listener, &e);
  e.data.fd = 0;
  epoll_ctl(ep, EPOLL_CTL_ADD, 0, &e);
  printf("%d\n", ntohs(a.sin_port));
  fflush(stdout);
  for (;;) {
    int64_t t = now();
    for (int k = 0; heaped > 0 && heap[0]->due <= t; k++) {
      send_token(heap[0], t);
      if (k % 16 == 15) t = now();
      if (k == 1023) break; // new requests must be heard in between
    }
    struct timespec wait = {1, 0};
    if (heaped > 0) {
      int64_t left = heap[0]->due - now();
      if (left < 0) left = 0;
      wait.tv_sec = left / 1000000000;
      wait.tv_nsec = left % 1000000000;
    }
    struct epoll_event ready[256];
    int n = epoll_pwait2(ep, ready, 256, &wait, NULL);
    for (int i = 0; i < n; i++) {
      int fd = ready[i].data.fd;
      char scrap[64];
      if (fd == listener) welcome(listener, ep);
      else if (fd == 0) {
        int64_t more = read(0, scrap, sizeof scrap);
        report();
        if (more > 0) continue;
        return 0;
      } else if (streams[fd]) receive(streams[fd]);
    }
  }
}
