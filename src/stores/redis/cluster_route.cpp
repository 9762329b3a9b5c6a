#include "stores/redis/cluster_route.hpp"

#include <algorithm>
#include <charconv>
#include <set>

namespace baton::redis {
namespace {

using detail::host_and_port;

/// Of an IPv6 address, the port is behind the last colon.
std::optional<host_and_port> read_node(std::string_view host, std::string_view port, const host_and_port& asked) {
    host_and_port node{std::string{host}, 0};
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), node.port);
    if (error != std::errc{} || end != port.data() + port.size() || node.port == 0) return {};
    if (host.size() > detail::longest_host) return {};
    if (host.empty() || host == "?") node.host = asked.host;
    return node;
}

}  // namespace

std::optional<host_and_port> moved_to(std::string_view error, const host_and_port& asked) {
    constexpr std::string_view word = "MOVED ";
    if (!error.starts_with(word)) return {};
    error.remove_prefix(word.size());
    error.remove_prefix(std::min(error.find(' ') + 1, error.size()));
    const std::size_t colon = error.rfind(':');
    if (colon == std::string_view::npos) return {};
    return read_node(error.substr(0, colon), error.substr(colon + 1), asked);
}

bool cluster_route::was_tried(const host_and_port& node) const {
    return std::ranges::find(tried_, node) != tried_.end();
}

const host_and_port* cluster_route::find_next() const {
    if (tried_.size() >= most_tries || in_vain_ >= most_in_vain) return nullptr;
    if (preferred_ && !was_tried(*preferred_)) return &*preferred_;
    for (const auto* const list : {&copies_, &seeds_, &others_})
        for (const host_and_port& node : *list)
            if (!was_tried(node)) return &node;
    return nullptr;
}

const host_and_port& cluster_route::next() {
    if (!has_next()) begin_round();
    current_ = *find_next();
    tried_.push_back(current_);
    return current_;
}

bool cluster_route::redirected(const host_and_port& node) {
    if (was_tried(node)) {
        ++in_vain_;
        return false;
    }
    preferred_ = node;
    return true;
}

void cluster_route::keep() {
    begin_round();
    preferred_ = current_;
}

void cluster_route::begin_round() {
    tried_.clear();
    in_vain_ = 0;
}

void cluster_route::learn(const resp::value& slots) {
    std::vector<host_and_port> copies;
    std::vector<host_and_port> others;
    std::set<host_and_port> seen;
    for (const resp::value& range : slots.items) {  // first slot, last slot, the primary, its replicas
        if (range.items.size() < 3) continue;
        const bool is_ours = range.items[0].number <= slot_ && slot_ <= range.items[1].number;
        for (std::size_t i = 2; i < range.items.size(); ++i) {
            const auto& fields = range.items[i].items;  // host, port, id, other names
            if (fields.size() < 2) continue;
            const auto node = read_node(fields[0].text, std::to_string(fields[1].number), current_);
            if (!node || seen.size() >= most_nodes) continue;
            const bool is_new = seen.insert(*node).second;
            if (is_ours)
                copies.push_back(*node);
            else if (is_new)
                others.push_back(*node);
        }
    }
    if (copies.empty() && others.empty()) return;
    copies_ = std::move(copies);
    others_ = std::move(others);
}

}  // namespace baton::redis
