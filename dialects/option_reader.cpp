#include "option_reader.hpp"

#include <algorithm>

#include "stores/redis/url_text.hpp"

namespace baton::dialects {

std::string option_reader::text(const std::string& name, std::string usual, std::size_t longest) {
    known_.push_back(name);
    auto node = given_.extract(name);
    if (!node) return usual;
    if (node.mapped().size() > longest) detail::refuse(name + " is at most " + std::to_string(longest) + " bytes long");
    return std::move(node.mapped());
}

std::chrono::milliseconds option_reader::time(const std::string& name, std::chrono::milliseconds usual,
                                              std::chrono::milliseconds low, std::chrono::milliseconds high) {
    known_.push_back(name);
    const auto node = given_.extract(name);
    return node ? detail::read_duration(name, node.mapped(), low, high) : usual;
}

std::size_t option_reader::choice(const std::string& name, const std::vector<std::string>& of, std::size_t usual) {
    known_.push_back(name);
    const auto node = given_.extract(name);
    if (!node) return usual;
    const auto found = std::ranges::find(of, node.mapped());
    if (found != of.end()) return static_cast<std::size_t>(found - of.begin());
    std::string all;
    for (const std::string& each : of) all += (all.empty() ? "" : " or ") + each;
    detail::refuse(name + " is " + all + ", and not " + detail::quoted(node.mapped()));
}

void option_reader::finish() const {
    if (given_.empty()) return;
    std::string all;
    for (const std::string& name : known_) all += (all.empty() ? "" : ", ") + name;
    detail::refuse("the dialect " + dialect_ + " has no option " + detail::quoted(given_.begin()->first) +
                   "; there are " + all);
}

}  // namespace baton::dialects
