// Simulates an older kernel for a process.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <initializer_list>
#include <vector>

namespace baton::local_tests {

inline constexpr int peer_pidfd_option = 77;

/// Disables these system calls and this option of getsockopt for this process and its children.
inline void deny(std::initializer_list<long> calls, int socket_option = -1) {
    const auto load = [](std::size_t offset) {
        return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
    };
    const auto skip_unless = [](long value, unsigned char lines) {
        return sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(value), 0, lines);
    };
    const auto answer = [](int error) {
        return sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error));
    };
    std::vector<sock_filter> filter;
    for (const long call : calls) {
        filter.push_back(load(offsetof(seccomp_data, nr)));
        filter.push_back(skip_unless(call, 1));
        filter.push_back(answer(ENOSYS));
    }
    if (socket_option >= 0) {
        filter.push_back(load(offsetof(seccomp_data, nr)));
        filter.push_back(skip_unless(SYS_getsockopt, 3));
        filter.push_back(load(offsetof(seccomp_data, args[2])));
        filter.push_back(skip_unless(socket_option, 1));
        filter.push_back(answer(ENOPROTOOPT));
    }
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(126);
}

}  // namespace baton::local_tests
