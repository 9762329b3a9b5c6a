#include "stores/resp/stream.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

namespace baton::resp {
namespace {

/// The control buffer for the descriptors of one message.
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

void stream::open(descriptor socket, std::shared_ptr<encryption> encryption) {
    close();
    socket_ = std::move(socket);
    encryption_ = std::move(encryption);
    decoder_.restart();
    first_bytes_.clear();
}

void stream::close() {
    socket_ = {};
    encryption_.reset();
    out_.clear();
    encrypted_.clear();
    with_.clear();
    blocked_ = false;
}

sent stream::flush() {
    if (encryption_) encryption_->encrypt(out_, encrypted_);
    std::string& bytes = encryption_ ? encrypted_ : out_;
    std::size_t done = 0;
    int error = blocked_ ? EAGAIN : 0;
    while (done < bytes.size() && error == 0) {
        const ssize_t size = send_with(socket_.get(), {bytes.data() + done, bytes.size() - done}, with_);
        if (size >= 0) {
            done += static_cast<std::size_t>(size);
            with_.clear();
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    bytes.erase(0, done);
    if (error == 0) return sent::all;
    if (error == EAGAIN && bytes.size() <= most_unsent) {
        blocked_ = true;
        return sent::blocked;
    }
    out_.clear();
    encrypted_.clear();
    with_.clear();
    return error == EPIPE || error == ECONNRESET ? sent::closed : sent::failed;
}

void stream::decode(std::string_view bytes) {
    if (first_bytes_.size() < most_shown) first_bytes_ += bytes.substr(0, most_shown - first_bytes_.size());
    decoder_.feed(bytes);
}

received stream::receive() {
    iovec data{buffer_.data(), buffer_.size()};
    control_space control;
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    received result;
    do result.size = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
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
    const std::span<const char> bytes{buffer_.data(), static_cast<std::size_t>(result.size)};
    if (!encryption_) {
        decode({bytes.data(), bytes.size()});
    } else if (!bytes.empty()) {
        result.error = encryption_->decrypt(bytes, decrypted_);
        decode(decrypted_);
        decrypted_.clear();
    }
    return result;
}

}  // namespace baton::resp
