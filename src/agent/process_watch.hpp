// Watches the processes of a connection by their pidfds: the process that connected, and perhaps a second one that may
// outlive it. The sessions of the connection end when all these processes have ended.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/event_loop.hpp"
#include "stores/resp/stream.hpp"

namespace baton::agent {

class peer;

class process_watch : public std::enable_shared_from_this<process_watch> {
public:
    using on_end = std::function<void(const std::shared_ptr<process_watch>&)>;

    /// Calls `call` once when all processes have ended, and `call_in_part` when only some have. Returns null if there
    /// are no processes or one of them cannot be watched.
    [[nodiscard]] static std::shared_ptr<process_watch> make(detail::event_loop& loop,
                                                             const resp::passed_descriptors& pidfds,
                                                             const std::shared_ptr<peer>& peer, on_end call,
                                                             on_end call_in_part);

    process_watch(detail::event_loop& loop, const std::shared_ptr<peer>& peer, on_end call, on_end call_in_part);
    process_watch(const process_watch&) = delete;
    process_watch& operator=(const process_watch&) = delete;
    ~process_watch();

    /// `call` has returned.
    [[nodiscard]] bool ended() const { return ended_; }
    /// Whether all processes that have not ended are stopped by a signal.
    [[nodiscard]] bool others_stopped() const;
    /// The connection of the processes; null if it is closed.
    [[nodiscard]] std::shared_ptr<agent::peer> peer() const { return peer_.lock(); }

private:
    struct process {
        std::shared_ptr<const descriptor> pidfd;
        bool ended = false;
    };
    void one_ended(std::size_t which);

    detail::event_loop& loop_;
    std::vector<process> processes_;
    std::size_t left_ = 0;  // the number of processes that have not ended
    std::weak_ptr<agent::peer> peer_;
    on_end on_end_;
    on_end on_part_;
    bool ended_ = false;
};

}  // namespace baton::agent
