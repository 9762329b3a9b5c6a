#include "agent/process_watch.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "system/pidfd.hpp"
#include "system/process_stat.hpp"

namespace baton::agent {

process_watch::process_watch(detail::event_loop& loop, const std::shared_ptr<agent::peer>& peer, on_end call,
                             on_end call_in_part)
    : loop_{loop}, peer_{peer}, on_end_{std::move(call)}, on_part_{std::move(call_in_part)} {}

process_watch::~process_watch() {
    for (const process& each : processes_)
        if (!each.ended) loop_.forget(each.pidfd->get());
}

std::shared_ptr<process_watch> process_watch::make(detail::event_loop& loop, const resp::passed_descriptors& pidfds,
                                                   const std::shared_ptr<agent::peer>& peer, on_end call,
                                                   on_end call_in_part) {
    if (pidfds.empty()) return nullptr;
    auto made = std::make_shared<process_watch>(loop, peer, std::move(call), std::move(call_in_part));
    for (const auto& pidfd : pidfds) {
        // A pidfd becomes readable when its process ends, even before the parent has waited for it.
        auto report_end = [weak = std::weak_ptr{made}, which = made->processes_.size()] {
            if (const auto self = weak.lock()) self->one_ended(which);
        };
        if (loop.watch(pidfd->get(), EPOLLIN, std::make_shared<detail::event_callback>(std::move(report_end))))
            return nullptr;
        made->processes_.push_back({pidfd});
    }
    made->left_ = pidfds.size();
    return made;
}

void process_watch::one_ended(std::size_t which) {
    processes_[which].ended = true;
    loop_.forget(processes_[which].pidfd->get());
    if (--left_ > 0) return on_part_(shared_from_this());
    on_end_(shared_from_this());
    ended_ = true;
}

bool process_watch::others_stopped() const {
    return std::ranges::all_of(processes_, [](const process& each) {
        if (each.ended) return true;
        const auto number = detail::number_of(each.pidfd->get());
        const auto found = number ? read_process_stat(*number) : std::nullopt;
        return found && found->stopped();
    });
}

}  // namespace baton::agent
