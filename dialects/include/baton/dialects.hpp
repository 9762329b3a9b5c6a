/// The protocols of other programs on Redis, as stores (docs/dialects.md). They are a library of their own: link
/// `baton::dialects` and call `register_dialects` once, for instance in `main`.
///
///     baton::register_dialects();
///     baton::client client{"redis://host?dialect=redturn"};
#pragma once

namespace baton {
inline namespace v1 {

/// From now on this process can use addresses with `dialect=amphp`, `dialect=redturn` and `dialect=adv-sem`. Without it
/// they are refused with errc::unsupported. Thread-safe; another call changes nothing.
void register_dialects() noexcept;

}  // namespace v1
}  // namespace baton
