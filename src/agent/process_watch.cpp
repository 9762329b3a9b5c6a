#include "agent/process_watch.hpp"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "system/pidfd.hpp"
#include "system/process_stat.hpp"

namespace baton::agent {
namespace {

/// A pidfd can be read when its process has ended, whether or not it has been waited for.
bool has_ended(int pidfd) {
    pollfd asked{pidfd, POLLIN, 0};
    return poll(&asked, 1, 0) > 0 && asked.revents != 0;
}

}  // namespace

process_watch::process_watch(const std::shared_ptr<agent::peer>& peer, on_end call, on_end call_in_part)
    : peer_{peer}, on_end_{std::move(call)}, on_part_{std::move(call_in_part)} {}

process_watch::~process_watch() {
    for (process& each : processes_)
        if (each.waiting.is_open()) each.waiting.release();
}

std::shared_ptr<process_watch> process_watch::make(asio::io_context& context, const resp::passed_descriptors& pidfds,
                                                   const std::shared_ptr<agent::peer>& peer, on_end call,
                                                   on_end call_in_part) {
    if (pidfds.empty()) return nullptr;
    auto made = std::make_shared<process_watch>(peer, std::move(call), std::move(call_in_part));
    for (const auto& pidfd : pidfds) {
        made->processes_.push_back({pidfd, asio::posix::stream_descriptor{context}});
        std::error_code error;
        made->processes_.back().waiting.assign(pidfd->get(), error);
        if (error) return nullptr;
    }
    made->left_ = pidfds.size();
    for (process& each : made->processes_) made->await(each);
    return made;
}

void process_watch::await(process& each) {
    each.waiting.async_wait(asio::posix::stream_descriptor::wait_read,
                            [weak = weak_from_this(), &each](std::error_code error) {
                                const auto self = weak.lock();
                                if (error || !self) return;
                                // Asio may pass on an event of a descriptor that had this number before.
                                if (!has_ended(each.pidfd->get())) return self->await(each);
                                if (--self->left_ > 0) return self->on_part_(self);
                                self->on_end_(self);
                                self->ended_ = true;
                            });
}

bool process_watch::the_rest_is_stopped() const {
    return std::ranges::all_of(processes_, [](const process& each) {
        if (has_ended(each.pidfd->get())) return true;
        const auto number = detail::number_of(each.pidfd->get());
        const auto found = number ? look_at(*number) : std::nullopt;
        return found && found->stopped();
    });
}

}  // namespace baton::agent
