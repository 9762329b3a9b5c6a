#include "stores/resp/line_user.hpp"

#include <array>

namespace baton::resp {

void line_user::up(lineage lineage) {
    if (const auto told = listener()) told->up(lineage);
}

void line_user::down(const store_error& why) {
    if (const auto told = listener()) told->down(why);
}

void line_user::hopeless(const store_error& why) {
    {
        const std::lock_guard lock{mutex_};
        hopeless_ = why;
    }
    if (const auto told = listener()) told->up(0);
}

store_error line_user::why_hopeless() {
    const std::lock_guard lock{mutex_};
    return hopeless_;
}

void line_user::refuse_if_hopeless(std::span<const tagged_command> commands) {
    const store_error why = why_hopeless();
    const auto told = listener();
    if (!why.code || !told) return;
    for (const tagged_command& each : commands) {
        if (const auto* close = std::get_if<protocol::close>(&each.command))
            told->replied(each.tag, 0, std::array{protocol::event{{}, protocol::closed{close->session}}});
        else
            told->failed(each.tag, command_failure::rejected, why);
    }
}

}  // namespace baton::resp
