#include "circles.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace baton::sim {

using namespace core;

namespace {

// The wait graph: a waiting request waits for its blockers, a holder for the requests that its session waits for.
class reach {
public:
    explicit reach(const snapshot& state)
        : requests_(state.requests), size_(requests_.size()), reaches_(size_ * size_) {
        for (std::size_t from = 0; from < size_; ++from)
            for (std::size_t to = 0; to < size_; ++to)
                reaches_[from * size_ + to] = waits_for(requests_[from], requests_[to]);
        for (std::size_t over = 0; over < size_; ++over)
            for (std::size_t from = 0; from < size_; ++from)
                if (reaches_[from * size_ + over])
                    for (std::size_t to = 0; to < size_; ++to)
                        if (reaches_[over * size_ + to]) reaches_[from * size_ + to] = true;
    }

    /// Sets of requests that all wait for each other: counted by their oldest.
    [[nodiscard]] std::size_t circles() const {
        std::size_t count = 0;
        for (std::size_t node = 0; node < size_; ++node) {
            bool oldest = reaches_[node * size_ + node];
            for (std::size_t older = 0; older < node && oldest; ++older)
                if (reaches_[node * size_ + older] && reaches_[older * size_ + node]) oldest = false;
            if (oldest) ++count;
        }
        return count;
    }

private:
    static bool waits_for(const request_view& from, const request_view& to) {
        if (from.fence != 0) return to.fence == 0 && from.session == to.session;
        return std::ranges::find(from.blockers, to.ticket, &blocker::ticket) != from.blockers.end();
    }

    const std::vector<request_view>& requests_;
    std::size_t size_;
    std::vector<bool> reaches_;
};

const request_view* find(const snapshot& state, serial ticket) {
    const auto found = std::ranges::find(state.requests, ticket, &request_view::ticket);
    return found != state.requests.end() ? &*found : nullptr;
}

bool closes(const snapshot& state, const circle& circle) {
    for (std::size_t index = 0; index < circle.size(); ++index) {
        const circle_step& step = circle[index];
        const request_view* waiter = find(state, step.ticket);
        const request_view* blocker = find(state, step.blocker);
        const request_view* next = find(state, circle[(index + 1) % circle.size()].ticket);
        if (waiter == nullptr || blocker == nullptr || next == nullptr || waiter->fence != 0) return false;
        const auto named = [&](const core::blocker& one) {
            return one.ticket == step.blocker && one.resource == step.resource;
        };
        if (std::ranges::none_of(waiter->blockers, named)) return false;
        if (blocker->fence == 0 ? next != blocker : next->session != blocker->session) return false;
    }
    return !circle.empty();
}

}  // namespace

std::optional<std::string> wrong_circles(const snapshot& state) {
    // No check with a repeated ticket (only forged reclaims cause that) or with blockers that are not all shown.
    const auto same_ticket = [](const request_view& a, const request_view& b) { return a.ticket == b.ticket; };
    if (std::ranges::adjacent_find(state.requests, same_ticket) != state.requests.end()) return std::nullopt;
    if (std::ranges::any_of(state.requests, [](const auto& view) { return view.blockers_left_out != 0; }))
        return std::nullopt;

    for (const circle& circle : state.circles)
        if (!closes(state, circle)) return "a circle does not close";
    const std::size_t circles = reach(state).circles();
    if (circles == state.circles.size()) return std::nullopt;
    return std::to_string(circles) + " circles, but " + std::to_string(state.circles.size()) + " circles";
}

}  // namespace baton::sim
