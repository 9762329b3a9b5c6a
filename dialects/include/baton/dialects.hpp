/// Stores that use the lock protocols of other programs on Redis (docs/dialects.md). They are a separate library: link
/// `baton::dialects` and call `register_dialects` once, for instance in `main`.
///
///     baton::register_dialects();
///     baton::client client{"redis://host?dialect=redturn"};
#pragma once

namespace baton {
inline namespace v1 {

/// Makes addresses with `dialect=amphp`, `dialect=redturn` and `dialect=adv-sem` usable in this process. Before this
/// call they are refused with errc::unsupported. Thread-safe; another call changes nothing.
void register_dialects() noexcept;

}  // namespace v1
}  // namespace baton
