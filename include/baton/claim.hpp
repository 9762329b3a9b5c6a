/// What is wanted: one or several resources, each exclusively, shared, or some permits of a limit.
///
///     baton::exclusive("db", "cache") & baton::permits("gpu", 2, 8)
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baton {

enum class mode : std::uint8_t { exclusive, shared, permits };

/// One resource and how it is wanted. `permits` and `limit` are 0 unless the mode counts permits.
struct claim {
    std::string resource;  ///< 1 to 512 bytes, any bytes
    baton::mode mode = baton::mode::exclusive;
    std::uint32_t permits = 0;
    std::uint32_t limit = 0;

    friend bool operator==(const claim&, const claim&) = default;
};

/// Claims on distinct resources, all wanted at once: 1 to 1,000. A name twice is refused when it is acquired.
class claims {
public:
    explicit claims(std::vector<claim> list) : list_{std::move(list)} {}

    [[nodiscard]] const std::vector<claim>& list() const noexcept { return list_; }

    claims& operator&=(const claims& more) {
        list_.insert(list_.end(), more.list_.begin(), more.list_.end());
        return *this;
    }
    friend claims operator&(claims some, const claims& more) { return some &= more; }
    friend bool operator==(const claims&, const claims&) = default;

private:
    std::vector<claim> list_;
};

/// Nobody else has these resources meanwhile.
template <std::convertible_to<std::string_view>... Names>
    requires(sizeof...(Names) > 0)
[[nodiscard]] claims exclusive(const Names&... names) {
    return claims{{claim{std::string{std::string_view{names}}, mode::exclusive, 0, 0}...}};
}

/// Others may share these resources meanwhile, nobody has them exclusively.
template <std::convertible_to<std::string_view>... Names>
    requires(sizeof...(Names) > 0)
[[nodiscard]] claims shared(const Names&... names) {
    return claims{{claim{std::string{std::string_view{names}}, mode::shared, 0, 0}...}};
}

/// `count` of `limit` permits of a resource, with as many slot numbers below the limit.
[[nodiscard]] inline claims permits(std::string_view name, std::uint32_t count, std::uint32_t limit) {
    return claims{{claim{std::string{name}, mode::permits, count, limit}}};
}

}  // namespace baton
