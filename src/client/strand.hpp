// Tasks run one at a time and in order, on whichever thread brings one while none runs: so an uncontended call is done
// by its own caller, without another thread. A task that brings tasks to other strands does not run them inside itself;
// its thread runs them when it is through: hand-offs from client to client do not nest.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace baton::detail {

class strand : public std::enable_shared_from_this<strand> {
public:
    using task = std::function<void()>;

    void post(task task) {
        {
            const std::lock_guard lock{mutex_};
            tasks_.push_back(std::move(task));
            if (std::exchange(running_, true)) return;
        }
        auto& waiting = strands_of_this_thread();
        waiting.push_back(shared_from_this());
        if (waiting.size() > 1) return;  // inside another strand's task
        for (std::size_t next = 0; next < waiting.size(); ++next) std::shared_ptr {
                waiting[next]
            } -> run();
        waiting.clear();
    }

private:
    static std::vector<std::shared_ptr<strand>>& strands_of_this_thread() {
        static thread_local std::vector<std::shared_ptr<strand>> strands;
        return strands;
    }

    void run() {
        std::vector<task> batch;
        for (;;) {
            batch.clear();
            {
                const std::lock_guard lock{mutex_};
                if (tasks_.empty()) {
                    running_ = false;
                    return;
                }
                batch.swap(tasks_);
            }
            for (task& task : batch) task();
        }
    }

    std::mutex mutex_;
    std::vector<task> tasks_;
    bool running_ = false;
};

}  // namespace baton::detail
