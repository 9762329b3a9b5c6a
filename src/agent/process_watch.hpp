// Tells when the processes of a connection have ended, by their pidfds: the process that connected, and perhaps one
// more that may outlive it. Sessions that the connection opened last are gone when all of them are.
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

    /// Calls `call` once, when all have ended, and `call_in_part` when one has ended and another has not. Null if there
    /// are none, or one of them cannot be watched.
    [[nodiscard]] static std::shared_ptr<process_watch> make(detail::event_loop& loop,
                                                             const resp::passed_descriptors& pidfds,
                                                             const std::shared_ptr<peer>& peer, on_end call,
                                                             on_end call_in_part);

    process_watch(detail::event_loop& loop, const std::shared_ptr<peer>& peer, on_end call, on_end call_in_part);
    process_watch(const process_watch&) = delete;
    process_watch& operator=(const process_watch&) = delete;
    ~process_watch();

    /// Their end was told, and will not be again.
    [[nodiscard]] bool ended() const { return ended_; }
    /// Whether those that have not ended do not run: stopped by a signal.
    [[nodiscard]] bool the_rest_is_stopped() const;
    /// Where they said what they had to say; null if that connection is over.
    [[nodiscard]] std::shared_ptr<agent::peer> peer() const { return peer_.lock(); }

private:
    struct process {
        std::shared_ptr<const descriptor> pidfd;
        bool ended = false;
    };
    void one_ended(std::size_t which);

    detail::event_loop& loop_;
    std::vector<process> processes_;
    std::size_t left_ = 0;  // that have not ended
    std::weak_ptr<agent::peer> peer_;
    on_end on_end_;
    on_end on_part_;
    bool ended_ = false;
};

}  // namespace baton::agent
