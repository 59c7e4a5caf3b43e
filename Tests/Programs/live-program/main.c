/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program for tests of control requests, which runs until its tweak Live/Values/Text is "end":
 *
 *     live-program            waits
 *     live-program fork       forks when Live/Values/Step changes; parent and child continue
 *     live-program exec PATH… executes another program then
 *     live-program daemon     goes into the background then
 *     live-program close      closes all descriptors but the first three then, opens others, and
 * ends
 */
#include <fbtweak.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int step(void) {
  return FBTweakValue("Live", "Values", "Step", 0);
}
static const char *text(void) {
  return FBTweakValue("Live", "Values", "Text", "run");
}
static bool is_over(void) {
  return strcmp(text(), "end") == 0;
}
static void hello(void) {
  puts("hello");
  fflush(stdout);
}

/* Closes all descriptors, as some daemons do. The library must not touch those opened afterwards.
 */
static int close_all(void) {
  int pipes[20][2];
  char byte = 0;
  /* Otherwise a concurrent write of the library would go to the wrong file. */
  usleep(300000);
  for (int descriptor = 3; descriptor < 1024; descriptor++)
    close(descriptor);
  for (int i = 0; i < 20; i++)
    if (pipe2(pipes[i], O_NONBLOCK) != 0 || write(pipes[i][1], &byte, 1) != 1)
      return 1;
  usleep(500000);
  for (int i = 0; i < 20; i++)
    if (read(pipes[i][0], &byte, 1) != 1 || read(pipes[i][0], &byte, 1) >= 0)
      return 1;
  return 0;
}

int main(int count, char **arguments) {
  const char *mode = count > 1 ? arguments[1] : "";
  pid_t child = 0;
  FBTweakAction("Live", "Actions", "Hello", hello);
  while (step() == 0 && !is_over())
    usleep(1000);
  if (!is_over()) {
    if (strcmp(mode, "fork") == 0)
      child = fork();
    else if (strcmp(mode, "exec") == 0)
      execv(arguments[2], arguments + 2);
    else if (strcmp(mode, "daemon") == 0 && daemon(1, 1) != 0)
      return 1;
    else if (strcmp(mode, "close") == 0)
      return close_all();
  }
  while (!is_over())
    usleep(1000);
  if (child > 0)
    waitpid(child, NULL, 0);
  return 0;
}
