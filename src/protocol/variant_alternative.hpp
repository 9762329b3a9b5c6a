// From the name of a message to an empty message of that name.
#pragma once

#include <string_view>
#include <utility>
#include <variant>

#include "protocol/fields.hpp"

namespace baton::protocol {

/// Puts the alternative that has this name into the variant. False: none has.
template <typename Variant> [[nodiscard]] bool emplace_named(Variant& into, std::string_view name) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return ((name == names_of<Variant>[I] && (into.template emplace<I>(), true)) || ...);
    }(std::make_index_sequence<std::variant_size_v<Variant>>{});
}

}  // namespace baton::protocol
