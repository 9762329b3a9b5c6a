#include "run/reporter.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

#include "json.hpp"

namespace baton::cli {
namespace {

constexpr std::size_t most_pending = 64U << 10U;

/// Opens stderr again, as a non-blocking file description of baton's own: changing the shared description would change
/// it for other processes. A regular file is used as it is, because a second description has a position of its own.
int open_without_blocking() {
    struct stat found {};
    if (::fstat(STDERR_FILENO, &found) != 0 || !(S_ISFIFO(found.st_mode) || S_ISCHR(found.st_mode)))
        return STDERR_FILENO;
    const int opened = ::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return opened < 0 ? STDERR_FILENO : opened;
}

}  // namespace

reporter::reporter(cli::tone tone, bool json) : tone_{tone}, json_{json}, descriptor_{open_without_blocking()} {}

reporter::~reporter() {
    if (descriptor_ != STDERR_FILENO) ::close(descriptor_);
}

void reporter::write(const std::string& text) {
    if (pending_.size() > most_pending) flush();
    if (pending_.size() > most_pending) return;
    pending_ += text;
    flush();
}

long reporter::write_some() {
    const ssize_t sent = ::send(descriptor_, pending_.data(), pending_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent >= 0 || errno != ENOTSOCK ? sent : ::write(descriptor_, pending_.data(), pending_.size());
}

void reporter::flush() {
    pollfd writable{descriptor_, POLLOUT, 0};
    const int longest = longest_wait_ ? static_cast<int>(longest_wait_->count()) : -1;
    // If stderr could not be opened again, a poll before each write keeps the write from blocking.
    bool poll_first = descriptor_ == STDERR_FILENO;
    while (!pending_.empty()) {
        if (poll_first && ::poll(&writable, 1, longest) == 0) return;
        const long length = write_some();
        poll_first = true;
        if (length > 0)
            pending_.erase(0, static_cast<std::size_t>(length));
        else if (length == 0 || (errno != EINTR && errno != EAGAIN))
            pending_.clear();  // there is no reader; the command must not fail because of that
    }
}

void reporter::finish() {
    wait_for_reader({});
    flush();
}

void reporter::report(weight weight, const char* event, const std::string& sentence, const std::vector<field>& fields) {
    if (json_) {
        json_text line{{"event", event}, {"at", time_text(std::chrono::system_clock::now())}};
        for (const auto& [name, value] : fields)
            std::visit([&line, key = name](const auto& v) { add(line, key, v); }, value);
        return write(line_of(line));
    }
    const auto least = tone_ == tone::quiet ? weight::problem : tone_ == tone::normal ? weight::news : weight::detail;
    if (weight < least) return;
    redraw("");
    write("baton: " + sentence + "\n");
}

void reporter::redraw(const std::string& line) {
    if (json_ || (line.empty() && !drawn_)) return;
    if (!line.empty() && !pending_.empty()) {  // skip this line if the terminal is slow: a newer one follows
        flush();
        if (!pending_.empty()) return;
    }
    write("\r\x1b[K" + line);
    drawn_ = !line.empty();
}

}  // namespace baton::cli
