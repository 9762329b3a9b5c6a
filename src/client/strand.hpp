// Tasks run one at a time and in order, on whichever thread brings one while none runs: so an uncontended call is done
// by its own caller, without another thread. A task that brings tasks to other strands does not run them inside itself;
// its thread runs them when it is through: hand-offs from client to client do not nest. Whoever is to be woken is woken
// after that, or he would only wait for the strand.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace baton::detail {

/// Somebody whose thread sleeps.
class wakeable {
public:
    virtual void wake() noexcept = 0;

protected:
    ~wakeable() = default;
};

class strand : public std::enable_shared_from_this<strand> {
public:
    template <typename Task> void post(Task task) {
        auto& mine = this_thread();
        {
            const std::lock_guard lock{mutex_};
            const bool runs = std::exchange(running_, true);
            // Its runner will see to it: another thread, or this one when it is through with what it is in.
            if (runs || !mine.strands.empty()) tasks_.emplace_back(std::move(task));
            if (runs) return;
        }
        mine.strands.push_back(shared_from_this());
        if (mine.strands.size() > 1) return;
        task();
        for (std::size_t next = 0; next < mine.strands.size(); ++next) {
            const std::shared_ptr<strand> strand = mine.strands[next];
            strand->run();
        }
        mine.strands.clear();
        for (const std::shared_ptr<wakeable>& sleeper : mine.sleepers) sleeper->wake();
        mine.sleepers.clear();
    }

    /// Wakes somebody once this thread has left all strands.
    static void wake_later(std::shared_ptr<wakeable> sleeper) {
        auto& mine = this_thread();
        if (mine.strands.empty()) return sleeper->wake();
        mine.sleepers.push_back(std::move(sleeper));
    }

    /// Whether the calling thread is in a strand, so that what it posts is done later.
    [[nodiscard]] static bool is_in_one() { return !this_thread().strands.empty(); }

private:
    struct of_thread {
        std::vector<std::shared_ptr<strand>> strands;  // that it runs, or is to run
        std::vector<std::shared_ptr<wakeable>> sleepers;
    };
    static of_thread& this_thread() {
        static thread_local of_thread mine;
        return mine;
    }

    void run() {
        for (;;) {
            batch_.clear();
            {
                const std::lock_guard lock{mutex_};
                if (tasks_.empty()) {
                    running_ = false;
                    return;
                }
                batch_.swap(tasks_);
            }
            for (auto& task : batch_) task();
        }
    }

    std::mutex mutex_;
    std::vector<std::function<void()>> tasks_;
    bool running_ = false;
    std::vector<std::function<void()>> batch_;  // of the runner
};

}  // namespace baton::detail
