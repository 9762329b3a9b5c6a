#include "claim_spec.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include "baton/printable.hpp"
#include "baton/protocol.hpp"
#include "failure.hpp"
#include "number.hpp"

namespace baton::cli {
namespace {

using protocol::bounds::limit;

/// Characters with which a mistyped count may begin: gpu:two, gpu=2, gpu 2.
constexpr std::string_view not_without_count = ":= \t\n\v\f\r";

[[noreturn]] void refuse_missing_count(std::string_view text, std::string_view name) {
    throw failure{exit_code::usage,
                  "-p " + printable(text) +
                      ": the count is a whole number after the last colon, as in NAME:2/LIMIT; a name "
                      "that contains a colon, = or white space needs one: " +
                      printable(name) + ":1" + printable(text.substr(name.size()))};
}

[[noreturn]] void refuse_permits(std::string_view text) {
    throw failure{exit_code::usage, "-p " + printable(text) +
                                        ": permits are NAME/LIMIT or NAME:n/LIMIT, with 1 <= n <= LIMIT <= " +
                                        std::to_string(limit) + ", as in team/gpu:2/8"};
}

}  // namespace

void check_name(std::string_view name) {
    if (!name.empty() && name.size() <= protocol::bounds::name) return;
    throw failure{exit_code::usage,
                  "a name has 1 to " + std::to_string(protocol::bounds::name) + " bytes; " +
                      (name.empty() ? std::string{"this one is empty"}
                                    : printable(name.substr(0, 32)) + "… has " + std::to_string(name.size()))};
}

claim parse_permits(std::string_view text) {
    const std::size_t slash = text.rfind('/');
    if (slash == std::string_view::npos) refuse_permits(text);
    const auto of = parse_number<std::uint32_t>(text.substr(slash + 1));
    std::string_view name = text.substr(0, slash);
    std::optional<std::uint32_t> count = 1;
    if (name.find_first_of(not_without_count) != std::string_view::npos) {
        const std::size_t colon = name.rfind(':');
        const std::string_view digits = colon == std::string_view::npos ? "" : name.substr(colon + 1);
        if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
            refuse_missing_count(text, name);
        count = parse_number<std::uint32_t>(digits);
        name = name.substr(0, colon);
    }
    if (!of || !count || *count < 1 || *count > *of || *of > limit) refuse_permits(text);
    check_name(name);
    return {std::string{name}, claim_mode::permits, *count, *of};
}

}  // namespace baton::cli
