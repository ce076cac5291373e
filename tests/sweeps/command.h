// Runs the trnsim program as a user does and hands back all that it said.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/sweeps/folder.h"

namespace trnsim {

struct Said {
  int status = -1;  ///< exit status, or 128 + signal
  std::string out, err;
};

/// Starts `trnsim arguments`, its output into files of `folder`.
inline pid_t start_trnsim(const Folder& folder, const std::string& arguments) {
  const std::string command = std::string("exec '" TRNSIM_BINARY "' ") + arguments;
  const std::string out = folder.path("out.txt"), err = folder.path("err.txt");
  const pid_t pid = fork();
  if (pid != 0) return pid;
  std::signal(SIGINT, SIG_DFL);  // whatever started the tests may have it ignored
  if (std::freopen(err.c_str(), "w", stderr) == nullptr || std::freopen(out.c_str(), "w", stdout) == nullptr) _exit(99);
  execl("/bin/bash", "bash", "-c", command.c_str(), nullptr);
  _exit(98);
}

inline Said finish_trnsim(const Folder& folder, pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), folder.read("out.txt"),
          folder.read("err.txt")};
}

/// `arguments` as the shell reads them; a redirection in them wins.
inline Said trnsim_says(const std::string& arguments) {
  const Folder folder;
  return finish_trnsim(folder, start_trnsim(folder, arguments));
}

inline std::size_t lines(const std::string& text) {
  std::size_t count = 0;
  for (const char c : text) count += c == '\n' ? 1 : 0;
  return count;
}

}  // namespace trnsim
