/* Does from machine code what a component could do after breaking out of Node. The file in its last argument names the
   action. The result is one record on descriptor 4 (libs/framing/records.ts). As an addon of Node (NATIVE_ADDON), it exports
   `run`, which takes the action and returns the result. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef NATIVE_ADDON
static char said[8192];
static void report(const char *json) { strcpy(said, json); }
#else
static void report(const char *json) {
  uint32_t head[3] = {0, (uint32_t)strlen(json), 0};
  if (write(4, head, sizeof head) < 0 || write(4, json, head[1]) < 0) _exit(1);
}
#endif

static char out[8192];
static void add(const char *name, long result) {
  sprintf(out + strlen(out), "%s\"%s\":%ld", strlen(out) > 1 ? "," : "", name, result < 0 ? (long)errno : 0L);
}
#define TRY(name, ...) (errno = 0, add(name, syscall(__VA_ARGS__)))

/* Uses arguments for which the kernel does not return EPERM, unless a filter refuses the call. */
static void system_calls(void) {
  strcpy(out, "{");
  TRY("getpid", SYS_getpid);
  TRY("io_uring_setup", SYS_io_uring_setup, 0, NULL);
  TRY("userfaultfd", SYS_userfaultfd, 1);
  TRY("keyctl", SYS_keyctl, 0, -3, 0);
  TRY("add_key", SYS_add_key, NULL, NULL, NULL, 0, 0);
  TRY("request_key", SYS_request_key, NULL, NULL, NULL, 0);
  TRY("ptrace", SYS_ptrace, 0x4200, getpid(), 0, 0);
  TRY("process_vm_readv", SYS_process_vm_readv, getpid(), NULL, 0L, NULL, 0L, 0L);
  TRY("memfd_create", SYS_memfd_create, "x", 0);
  TRY("execveat", SYS_execveat, -1, "", NULL, NULL, 0x1000);
  TRY("kcmp", SYS_kcmp, getpid(), getpid(), 1, 0, 0);
  TRY("personality", SYS_personality, 0xffffffff);
  TRY("shmget", SYS_shmget, 0, 4096, 01600);
  TRY("name_to_handle_at", SYS_name_to_handle_at, -1, NULL, NULL, NULL, 0);
  TRY("vsock", SYS_socket, 40, 1, 0);
  TRY("alg", SYS_socket, 38, 5, 0);
  TRY("netfilter", SYS_socket, 16, 3, 12);
  TRY("unix", SYS_socket, 1, 1, 0);
  TRY("clone3", SYS_clone3, NULL, 0L);
  TRY("tiocsti", SYS_ioctl, -1, 0x5412, "x");
  TRY("unshare_files", SYS_unshare, 0x400);
  strcat(out, "}");
  report(out);
}

/* First steps to capabilities in a new namespace. */
static void privileges(void) {
  strcpy(out, "{");
  TRY("new_user_namespace", SYS_unshare, 0x10000000);
  strcat(out, "}");
  report(out);
}

/* Forks until it is stopped. */
static void processes(int most) {
  pid_t *made = calloc(most, sizeof *made);
  int n = 0;
  for (; n < most; n++) {
    pid_t pid = fork();
    if (pid < 0) break;
    if (pid == 0) for (;;) pause();
    made[n] = pid;
  }
  sprintf(out, "{\"made\":%d}", n);
  for (int i = 0; i < n; i++) kill(made[i], SIGKILL), waitpid(made[i], NULL, 0);
  report(out);
}

/* Takes memory that RLIMIT_DATA does not cover. */
static void shared_memory(long megabytes) {
  long touched = 0;
  for (; touched < megabytes; touched++) {
    char *part = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (part == MAP_FAILED) break;
    memset(part, 1, 1 << 20);
  }
  sprintf(out, "{\"touched\":%ld}", touched);
  report(out);
}

static void files(int most) {
  int n = 0;
  for (; n < most; n++) {
    char name[32];
    sprintf(name, "f%d", n);
    int fd = open(name, O_CREAT | O_WRONLY, 0600);
    if (fd < 0) break;
    close(fd);
  }
  sprintf(out, "{\"made\":%d}", n);
  report(out);
}

#ifndef NATIVE_ADDON
static void execute_copy(const char *self) {
  char part[65536];
  int from = open(self, O_RDONLY), to = open("copy", O_CREAT | O_WRONLY, 0755);
  for (ssize_t n; (n = read(from, part, sizeof part)) > 0;) if (write(to, part, n) != n) break;
  close(from);
  close(to);
  pid_t pid = fork();
  if (pid == 0) {
    char *const argv[] = {"copy", "--ran", NULL};
    execv("./copy", argv);
    _exit(errno);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  sprintf(out, "{\"exit\":%d}", WEXITSTATUS(status));
  report(out);
}

#endif

static void act(const char *task) {
  char what[32] = "";
  int number = 0;
  sscanf(task, "%31s %d", what, &number);
  if (!strcmp(what, "system_calls")) system_calls();
  if (!strcmp(what, "privileges")) privileges();
  if (!strcmp(what, "processes")) processes(number);
  if (!strcmp(what, "shared_memory")) shared_memory(number);
  if (!strcmp(what, "files")) files(number);
}

#ifdef NATIVE_ADDON
/* The few functions of Node's C interface that are needed, so that no header is. */
typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_info__ *napi_info;
extern int napi_get_cb_info(napi_env, napi_info, size_t *, napi_value *, napi_value *, void **);
extern int napi_get_value_string_utf8(napi_env, napi_value, char *, size_t, size_t *);
extern int napi_create_string_utf8(napi_env, const char *, size_t, napi_value *);
extern int napi_create_function(napi_env, const char *, size_t, napi_value (*)(napi_env, napi_info), void *, napi_value *);
extern int napi_set_named_property(napi_env, napi_value, const char *, napi_value);

static napi_value run(napi_env env, napi_info info) {
  size_t count = 1;
  napi_value task, result;
  char text[64] = "";
  napi_get_cb_info(env, info, &count, &task, NULL, NULL);
  napi_get_value_string_utf8(env, task, text, sizeof text, NULL);
  said[0] = out[0] = 0;
  act(text);
  napi_create_string_utf8(env, said, strlen(said), &result);
  return result;
}

napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  napi_value function;
  napi_create_function(env, "run", 3, run, NULL, &function);
  napi_set_named_property(env, exports, "run", function);
  return exports;
}
#else
int main(int argc, char **argv) {
  const char *last = argv[argc - 1];
  if (strcmp(last, "--ran") == 0) return 200;
  char task[64] = "";
  int fd = open(last, O_RDONLY);
  if (fd < 0 || read(fd, task, sizeof task - 1) < 0) return 2;
  close(fd);
  if (strcmp(last, "/child.cjs") == 0 && chdir("/tmp") < 0) return 3;
  act(task);
  if (!strcmp(task, "execute_copy")) execute_copy(argv[0]);
  if (!strcmp(task, "wait")) { report("{}"); for (;;) pause(); }
  return 0;
}
#endif
