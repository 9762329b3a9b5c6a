#include "stores/resp/socket_io.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace baton::resp {

sent send_some(int socket, std::string& out) {
    std::size_t done = 0;
    int error = 0;
    while (done < out.size() && error == 0) {
        const ssize_t size = ::send(socket, out.data() + done, out.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size >= 0)
            done += static_cast<std::size_t>(size);
        else if (errno != EINTR)
            error = errno;
    }
    out.erase(0, done);
    if (error == 0) return sent::all;
    if (error == EAGAIN) return sent::some;
    out.clear();
    return error == EPIPE || error == ECONNRESET ? sent::closed : sent::failed;
}

}  // namespace baton::resp
