#include "stores/resp/socket_io.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace baton::resp {
namespace {

/// Room for the descriptors of one message.
struct control_space {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(most_passed * sizeof(int))> bytes{};
};

ssize_t send_with(int socket, std::span<const char> bytes, const passed_descriptors& with) {
    iovec data{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    control_space control;
    const std::size_t size = with.size() * sizeof(int);
    if (size > 0) {
        message.msg_control = control.bytes.data();
        message.msg_controllen = CMSG_SPACE(size);
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(size);
        for (std::size_t i = 0; i < with.size(); ++i) {
            const int number = with[i]->get();
            std::memcpy(CMSG_DATA(header) + i * sizeof number, &number, sizeof number);
        }
    }
    return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

sent send_some(int socket, std::string& out, passed_descriptors& with) {
    std::size_t done = 0;
    int error = 0;
    while (done < out.size() && error == 0) {
        const ssize_t size = send_with(socket, {out.data() + done, out.size() - done}, with);
        if (size >= 0) {
            done += static_cast<std::size_t>(size);
            with.clear();
        } else if (errno != EINTR)
            error = errno;
    }
    out.erase(0, done);
    if (error == 0) return sent::all;
    if (error == EAGAIN) return sent::some;
    out.clear();
    with.clear();
    return error == EPIPE || error == ECONNRESET ? sent::closed : sent::failed;
}

received receive_some(int socket, std::span<char> buffer) {
    iovec data{buffer.data(), buffer.size()};
    control_space control;
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    received result;
    do result.size = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (result.size < 0 && errno == EINTR);
    if (result.size < 0) return result;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= header->cmsg_len; at += sizeof(int)) {
            int number = -1;
            std::memcpy(&number, CMSG_DATA(header) + (at - CMSG_LEN(0)), sizeof number);
            result.descriptors.emplace_back(number);
        }
    }
    return result;
}

}  // namespace baton::resp
