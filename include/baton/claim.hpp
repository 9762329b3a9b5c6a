/// Claims: the resources that a request wants, each exclusively, shared, or as a number of permits.
///
///     baton::exclusive("db", "cache") & baton::permits("gpu", {.count = 2, .limit = 8})
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baton {
inline namespace v1 {

enum class claim_mode : std::uint8_t { exclusive, shared, permits };

/// One resource and its mode. `permits` and `limit` are 0 unless the mode is `permits`.
struct claim {
    std::string resource;  ///< 1 to 512 bytes, any bytes
    claim_mode mode = claim_mode::exclusive;
    std::uint32_t permits = 0;
    std::uint32_t limit = 0;

    friend bool operator==(const claim&, const claim&) = default;
};

/// An immutable list of claims. Copies share the elements, so a request carries its claims from the caller to the store
/// without copying a name.
class claim_list {
public:
    claim_list() noexcept = default;
    claim_list(std::vector<claim> list)  // NOLINT(google-explicit-constructor): the same list, made immutable
        : list_{list.empty() ? nullptr : std::make_shared<const std::vector<claim>>(std::move(list))} {}
    claim_list(std::initializer_list<claim> list) : claim_list{std::vector<claim>{list}} {}

    [[nodiscard]] const claim* begin() const noexcept { return list_ ? list_->data() : nullptr; }
    [[nodiscard]] const claim* end() const noexcept { return begin() + size(); }
    [[nodiscard]] std::size_t size() const noexcept { return list_ ? list_->size() : 0; }
    [[nodiscard]] bool empty() const noexcept { return !list_; }
    [[nodiscard]] const claim& operator[](std::size_t at) const noexcept { return begin()[at]; }
    [[nodiscard]] const claim& front() const noexcept { return *begin(); }

    friend bool operator==(const claim_list& one, const claim_list& other) {
        return one.list_ == other.list_ || std::ranges::equal(one, other);
    }

private:
    std::shared_ptr<const std::vector<claim>> list_;  // null if there are no claims
};

/// Claims on 1 to 1,000 distinct resources, all wanted at once. An acquire with a duplicate name is refused. Cheap to
/// copy.
class claims {
public:
    explicit claims(claim_list list) noexcept : list_{std::move(list)} {}

    [[nodiscard]] const claim_list& list() const noexcept { return list_; }

    claims& operator&=(const claims& more) {
        std::vector<claim> all{list_.begin(), list_.end()};
        all.insert(all.end(), more.list_.begin(), more.list_.end());
        list_ = std::move(all);
        return *this;
    }
    friend claims operator&(claims some, const claims& more) { return some &= more; }
    friend bool operator==(const claims&, const claims&) = default;

private:
    claim_list list_;
};

/// `count` permits out of `limit`: `{.count = 2, .limit = 8}`.
struct permit_count {
    std::uint32_t count = 1;
    std::uint32_t limit = 0;
};

}  // namespace v1

namespace detail {

/// A range of names that is not itself a name.
template <typename Range>
concept names =
    std::ranges::input_range<Range> && std::convertible_to<std::ranges::range_reference_t<Range>, std::string_view> &&
    !std::convertible_to<Range, std::string_view>;

template <names Range> [[nodiscard]] claims claims_of(claim_mode mode, Range&& range) {
    std::vector<claim> list;
    for (const std::string_view name : range) list.push_back({std::string{name}, mode, 0, 0});
    return claims{std::move(list)};
}

}  // namespace detail

inline namespace v1 {

/// No other client holds these resources at the same time.
template <std::convertible_to<std::string_view>... Names>
    requires(sizeof...(Names) > 0)
[[nodiscard]] claims exclusive(const Names&... names) {
    return claims{{claim{std::string{std::string_view{names}}, claim_mode::exclusive, 0, 0}...}};
}
/// The same for a list of names: `exclusive(names)`, `exclusive({"db", "cache"})`.
template <detail::names Range> [[nodiscard]] claims exclusive(Range&& names) {
    return detail::claims_of(claim_mode::exclusive, names);
}
[[nodiscard]] inline claims exclusive(std::initializer_list<std::string_view> names) {
    return detail::claims_of(claim_mode::exclusive, names);
}

/// Other clients may share these resources at the same time; none holds them exclusively.
template <std::convertible_to<std::string_view>... Names>
    requires(sizeof...(Names) > 0)
[[nodiscard]] claims shared(const Names&... names) {
    return claims{{claim{std::string{std::string_view{names}}, claim_mode::shared, 0, 0}...}};
}
template <detail::names Range> [[nodiscard]] claims shared(Range&& names) {
    return detail::claims_of(claim_mode::shared, names);
}
[[nodiscard]] inline claims shared(std::initializer_list<std::string_view> names) {
    return detail::claims_of(claim_mode::shared, names);
}

/// `count` of the resource's `limit` permits. The lease has `count` slot numbers from 0 to limit - 1.
[[nodiscard]] inline claims permits(std::string_view name, permit_count wanted) {
    return claims{{claim{std::string{name}, claim_mode::permits, wanted.count, wanted.limit}}};
}

}  // namespace v1
}  // namespace baton
