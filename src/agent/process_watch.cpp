#include "agent/process_watch.hpp"

#include <poll.h>

#include <utility>

namespace baton::agent {
namespace {

/// A pidfd can be read when its process has ended, whether or not it has been waited for.
bool has_ended(int pidfd) {
    pollfd asked{pidfd, POLLIN, 0};
    return poll(&asked, 1, 0) > 0 && asked.revents != 0;
}

}  // namespace

process_watch::process_watch(const std::shared_ptr<agent::peer>& peer, on_end call)
    : peer_{peer}, on_end_{std::move(call)} {}

process_watch::~process_watch() {
    for (process& each : processes_)
        if (each.waiting.is_open()) each.waiting.release();
}

std::shared_ptr<process_watch> process_watch::make(asio::io_context& context, const resp::passed_descriptors& pidfds,
                                                   const std::shared_ptr<agent::peer>& peer, on_end call) {
    if (pidfds.empty()) return nullptr;
    auto made = std::make_shared<process_watch>(peer, std::move(call));
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
                                if (--self->left_ > 0) return;
                                self->on_end_(self);
                                self->ended_ = true;
                            });
}

}  // namespace baton::agent
