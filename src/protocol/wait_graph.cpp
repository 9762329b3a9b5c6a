#include "protocol/wait_graph.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "protocol/modes.hpp"

namespace baton::protocol {
namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

/// The claims of a resource, divided as in rule 2.
struct queue {
    std::vector<const claim_view*> admitted;
    std::vector<const claim_view*> waiting;

    explicit queue(const resource_view& resource) {
        for (const claim_view& claim : resource.holders) admitted.push_back(&claim);
        for (const claim_view& claim : resource.queue) (claim.admitted ? admitted : waiting).push_back(&claim);
    }
};

/// Whether an admitted claim blocks this one. Permits block each other when their sum is too large.
bool keeps_out(const claim_view& admitted, const claim_view& claim, const resource_view& resource) {
    const mode_rule& rule = rule_of(claim.mode);
    if (!rule.fits_with[index_of(admitted.mode)]) return true;
    return rule.counted && resource.used + claim.permits > resource.pinned.value_or(claim.limit);
}

class explainer {
public:
    explicit explainer(snapshot& snapshot) : snapshot_{snapshot} {
        std::size_t sessions = 0;
        for (std::size_t i = 0; i < snapshot_.requests.size(); ++i) {
            index_by_ticket_.emplace(snapshot_.requests[i].ticket, i);
            sessions = std::max(sessions, snapshot_.requests[i].session + 1);
        }
        edges_.resize(snapshot_.requests.size() + sessions);
    }

    void run() {
        for (const resource_view& resource : snapshot_.resources) explain_queue(resource, queue{resource});
        for (std::size_t i = 0; i < snapshot_.requests.size(); ++i) {
            const request_view& request = snapshot_.requests[i];
            const std::size_t session = snapshot_.requests.size() + request.session;
            // A session may keep its grants until its waiting requests are granted, so a grant waits for those.
            if (request.fence != 0)
                edges_[i].push_back({session, nullptr});
            else
                edges_[session].push_back({i, nullptr});
        }
        find_circles();
        std::ranges::sort(snapshot_.circles, {}, [](const circle& circle) { return circle.front().ticket; });
    }

private:
    /// From a request to another that blocks it on a resource, or between a request and its session.
    struct edge {
        std::size_t to;
        const resource_view* resource;
    };

    /// Tickets are unique on each resource; after reclaims two resources may have the same ticket.
    [[nodiscard]] std::size_t index_of_claimant(serial ticket, const resource_view& resource) const {
        auto [found, end] = index_by_ticket_.equal_range(ticket);
        while (std::next(found) != end && !claims(snapshot_.requests[found->second], resource)) ++found;
        return found->second;
    }

    static bool claims(const request_view& request, const resource_view& resource) {
        return std::ranges::find(request.claims, resource.name, &claim::resource) != request.claims.end();
    }

    // Only the first blocked waiter gets edges to the admitted claims (in a pause it need not be at position 1); each
    // waiter gets one to the waiter ahead of it. This finds the same circles, with no more edges than claims.
    void explain_queue(const resource_view& resource, const queue& queue) {
        bool drawn = false;
        for (std::size_t i = 0; i < queue.waiting.size(); ++i) {
            const claim_view& claim = *queue.waiting[i];
            const std::size_t from = index_of_claimant(claim.ticket, resource);
            request_view& request = snapshot_.requests[from];
            request.position = std::max(request.position, i + 1);
            std::size_t shown = 0;
            for (const claim_view* admitted : queue.admitted) {
                if (!keeps_out(*admitted, claim, resource)) continue;
                const std::size_t to = index_of_claimant(admitted->ticket, resource);
                if (!drawn) edges_[from].push_back({to, &resource});
                if (++shown <= blockers_shown)
                    request.blockers.push_back({admitted->ticket, resource.name, snapshot_.requests[to].fence != 0});
                else if (drawn)
                    break;
            }
            drawn = drawn || shown > 0;
            // The admitted claims fit together, so either all of them block this claim or none does.
            if (shown > blockers_shown) request.blockers_left_out += queue.admitted.size() - blockers_shown;
            if (i == 0) continue;
            const serial ahead = queue.waiting[i - 1]->ticket;
            request.blockers.push_back({ahead, resource.name, false});
            edges_[from].push_back({index_of_claimant(ahead, resource), &resource});
        }
    }

    // Tarjan's algorithm for strongly connected components. The explicit stack allows queues of any length.
    void find_circles() {
        order_.assign(edges_.size(), none);
        lowest_.assign(edges_.size(), none);
        component_.assign(edges_.size(), none);
        for (std::size_t root = 0; root < edges_.size(); ++root)
            if (order_[root] == none) visit_from(root);
    }

    void visit_from(std::size_t root) {
        struct frame {
            std::size_t node;
            std::size_t next_edge;
        };
        std::vector<frame> path{{root, 0}};
        arrive(root);
        while (!path.empty()) {
            const std::size_t node = path.back().node;
            if (path.back().next_edge < edges_[node].size()) {
                const std::size_t to = edges_[node][path.back().next_edge++].to;
                if (order_[to] == none) {
                    arrive(to);
                    path.push_back({to, 0});
                } else if (component_[to] == none) {
                    lowest_[node] = std::min(lowest_[node], order_[to]);
                }
                continue;
            }
            path.pop_back();
            if (!path.empty()) lowest_[path.back().node] = std::min(lowest_[path.back().node], lowest_[node]);
            if (lowest_[node] == order_[node]) close_component(node);
        }
    }

    void arrive(std::size_t node) {
        order_[node] = lowest_[node] = visited_++;
        stack_.push_back(node);
    }

    void close_component(std::size_t last) {
        std::vector<std::size_t> component;
        do {
            component.push_back(stack_.back());
            component_[component.back()] = last;
            stack_.pop_back();
        } while (component.back() != last);
        if (component.size() > 1) add_circle(component);
    }

    /// Adds the shortest circle through the oldest waiting request of a component.
    void add_circle(const std::vector<std::size_t>& component) {
        std::size_t start = none;
        for (const std::size_t node : component)
            if (node < snapshot_.requests.size() && snapshot_.requests[node].fence == 0) start = std::min(start, node);
        struct step {
            std::size_t from;
            const resource_view* resource;
        };
        std::unordered_map<std::size_t, step> came;
        std::vector<std::size_t> queue{start};
        for (std::size_t next = 0; next < queue.size() && !came.contains(start); ++next)
            for (const edge& edge : edges_[queue[next]])
                if (component_[edge.to] == component_[start] &&
                    came.try_emplace(edge.to, step{queue[next], edge.resource}).second)
                    queue.push_back(edge.to);
        baton::circle found;
        std::size_t node = start;
        do {
            const step& step = came.at(node);
            if (step.resource != nullptr)
                found.push_back(
                    {snapshot_.requests[step.from].ticket, step.resource->name, snapshot_.requests[node].ticket});
            node = step.from;
        } while (node != start);
        std::ranges::reverse(found);
        snapshot_.circles.push_back(std::move(found));
    }

    snapshot& snapshot_;
    std::unordered_multimap<serial, std::size_t>
        index_by_ticket_;                   // requests are sorted by ticket: a smaller index is older
    std::vector<std::vector<edge>> edges_;  // of the requests, then of the sessions
    std::vector<std::size_t> order_;
    std::vector<std::size_t> lowest_;
    std::vector<std::size_t> component_;  // of each node, named by one of its nodes; none while on the stack
    std::vector<std::size_t> stack_;
    std::size_t visited_ = 0;
};

}  // namespace

void explain(snapshot& snapshot) { explainer{snapshot}.run(); }

}  // namespace baton::protocol
