#include "baton/printable.hpp"
#include "duration.hpp"
#include "inspect/show.hpp"

namespace baton::cli {
namespace {

/// Escapes quotes and backslashes for Graphviz. The text is printable: its control characters are escaped already.
std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + '"';
}

std::string vertex(protocol::serial ticket) { return "r" + std::to_string(ticket); }

std::string arrow(const claim_view& from, const claim_view& to, const std::string& name) {
    return "  " + vertex(from.ticket) + " -> " + vertex(to.ticket) + " [label=" + quoted(printable(name)) + "];\n";
}

}  // namespace

std::string list_dot(const snapshot& snapshot) {
    std::string text = "digraph baton {\n  rankdir=LR;\n  node [shape=box];\n";
    for (const request_view& request : snapshot.requests) {
        const std::string state =
            (request.fence != 0 ? "holds" : "waits") + (snapshot.foreign ? "" : ", " + show_duration(request.age));
        text += "  " + vertex(request.ticket) + " [label=" + quoted(printable(request.label) + " | " + state) +
                (request.fence != 0 ? ", style=bold" : ", style=dashed") + "];\n";
    }
    for (const resource_view& resource : snapshot.resources) {
        if (resource.queue.empty()) continue;
        for (const claim_view& holder : resource.holders) text += arrow(holder, resource.queue.front(), resource.name);
        for (std::size_t i = 1; i < resource.queue.size(); ++i)
            text += arrow(resource.queue[i - 1], resource.queue[i], resource.name);
    }
    return text + "}\n";
}

}  // namespace baton::cli
