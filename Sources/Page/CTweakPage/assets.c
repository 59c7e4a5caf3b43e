// SPDX-License-Identifier: BSD-3-Clause

// Made by Sources/Page/list-files.
#include "tweak_page.h"

// Clang has #embed in C11, too.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char file_address_js[] = {
#embed "../Files/address.js"
};
static const unsigned char file_api_js[] = {
#embed "../Files/api.js"
};
static const unsigned char file_axes_js[] = {
#embed "../Files/axes.js"
};
static const unsigned char file_bar_js[] = {
#embed "../Files/bar.js"
};
static const unsigned char file_changes_js[] = {
#embed "../Files/changes.js"
};
static const unsigned char file_clock_js[] = {
#embed "../Files/clock.js"
};
static const unsigned char file_colours_js[] = {
#embed "../Files/colours.js"
};
static const unsigned char file_commands_js[] = {
#embed "../Files/commands.js"
};
static const unsigned char file_comparing_js[] = {
#embed "../Files/comparing.js"
};
static const unsigned char file_controllers_js[] = {
#embed "../Files/controllers.js"
};
static const unsigned char file_controls_action_js[] = {
#embed "../Files/controls/action.js"
};
static const unsigned char file_controls_all_js[] = {
#embed "../Files/controls/all.js"
};
static const unsigned char file_controls_choice_js[] = {
#embed "../Files/controls/choice.js"
};
static const unsigned char file_controls_colour_js[] = {
#embed "../Files/controls/colour.js"
};
static const unsigned char file_controls_monitor_js[] = {
#embed "../Files/controls/monitor.js"
};
static const unsigned char file_controls_none_js[] = {
#embed "../Files/controls/none.js"
};
static const unsigned char file_controls_number_js[] = {
#embed "../Files/controls/number.js"
};
static const unsigned char file_controls_pad_js[] = {
#embed "../Files/controls/pad.js"
};
static const unsigned char file_controls_sliding_js[] = {
#embed "../Files/controls/sliding.js"
};
static const unsigned char file_controls_switch_js[] = {
#embed "../Files/controls/switch.js"
};
static const unsigned char file_controls_text_js[] = {
#embed "../Files/controls/text.js"
};
static const unsigned char file_copying_js[] = {
#embed "../Files/copying.js"
};
static const unsigned char file_details_js[] = {
#embed "../Files/details.js"
};
static const unsigned char file_dom_js[] = {
#embed "../Files/dom.js"
};
static const unsigned char file_drawing_js[] = {
#embed "../Files/drawing.js"
};
static const unsigned char file_durations_js[] = {
#embed "../Files/durations.js"
};
static const unsigned char file_editing_js[] = {
#embed "../Files/editing.js"
};
static const unsigned char file_exporting_js[] = {
#embed "../Files/exporting.js"
};
static const unsigned char file_finding_js[] = {
#embed "../Files/finding.js"
};
static const unsigned char file_fleet_html[] = {
#embed "../Files/fleet.html"
};
static const unsigned char file_fleet_changing_js[] = {
#embed "../Files/fleet/changing.js"
};
static const unsigned char file_fleet_environments_js[] = {
#embed "../Files/fleet/environments.js"
};
static const unsigned char file_fleet_fleet_css[] = {
#embed "../Files/fleet/fleet.css"
};
static const unsigned char file_fleet_fleet_js[] = {
#embed "../Files/fleet/fleet.js"
};
static const unsigned char file_fleet_history_js[] = {
#embed "../Files/fleet/history.js"
};
static const unsigned char file_fleet_hosts_js[] = {
#embed "../Files/fleet/hosts.js"
};
static const unsigned char file_fleet_listing_js[] = {
#embed "../Files/fleet/listing.js"
};
static const unsigned char file_fleet_rollouts_js[] = {
#embed "../Files/fleet/rollouts.js"
};
static const unsigned char file_fleet_values_js[] = {
#embed "../Files/fleet/values.js"
};
static const unsigned char file_following_js[] = {
#embed "../Files/following.js"
};
static const unsigned char file_graphs_js[] = {
#embed "../Files/graphs.js"
};
static const unsigned char file_help_js[] = {
#embed "../Files/help.js"
};
static const unsigned char file_icon_svg[] = {
#embed "../Files/icon.svg"
};
static const unsigned char file_index_html[] = {
#embed "../Files/index.html"
};
static const unsigned char file_keeping_js[] = {
#embed "../Files/keeping.js"
};
static const unsigned char file_keyboard_js[] = {
#embed "../Files/keyboard.js"
};
static const unsigned char file_keys_js[] = {
#embed "../Files/keys.js"
};
static const unsigned char file_knobs_js[] = {
#embed "../Files/knobs.js"
};
static const unsigned char file_list_js[] = {
#embed "../Files/list.js"
};
static const unsigned char file_morphing_js[] = {
#embed "../Files/morphing.js"
};
static const unsigned char file_names_js[] = {
#embed "../Files/names.js"
};
static const unsigned char file_notices_js[] = {
#embed "../Files/notices.js"
};
static const unsigned char file_numbers_js[] = {
#embed "../Files/numbers.js"
};
static const unsigned char file_outline_js[] = {
#embed "../Files/outline.js"
};
static const unsigned char file_page_css[] = {
#embed "../Files/page.css"
};
static const unsigned char file_page_js[] = {
#embed "../Files/page.js"
};
static const unsigned char file_palette_js[] = {
#embed "../Files/palette.js"
};
static const unsigned char file_panels_js[] = {
#embed "../Files/panels.js"
};
static const unsigned char file_panels_arranging_js[] = {
#embed "../Files/panels/arranging.js"
};
static const unsigned char file_panels_content_js[] = {
#embed "../Files/panels/content.js"
};
static const unsigned char file_panels_graph_js[] = {
#embed "../Files/panels/graph.js"
};
static const unsigned char file_panels_list_js[] = {
#embed "../Files/panels/list.js"
};
static const unsigned char file_panels_panels_css[] = {
#embed "../Files/panels/panels.css"
};
static const unsigned char file_panels_reading_js[] = {
#embed "../Files/panels/reading.js"
};
static const unsigned char file_panels_view_js[] = {
#embed "../Files/panels/view.js"
};
static const unsigned char file_patches_js[] = {
#embed "../Files/patches.js"
};
static const unsigned char file_plotting_js[] = {
#embed "../Files/plotting.js"
};
static const unsigned char file_popups_js[] = {
#embed "../Files/popups.js"
};
static const unsigned char file_preferences_js[] = {
#embed "../Files/preferences.js"
};
static const unsigned char file_presets_js[] = {
#embed "../Files/presets.js"
};
static const unsigned char file_restarting_js[] = {
#embed "../Files/restarting.js"
};
static const unsigned char file_row_js[] = {
#embed "../Files/row.js"
};
static const unsigned char file_runs_js[] = {
#embed "../Files/runs.js"
};
static const unsigned char file_samples_js[] = {
#embed "../Files/samples.js"
};
static const unsigned char file_sets_js[] = {
#embed "../Files/sets.js"
};
static const unsigned char file_showing_js[] = {
#embed "../Files/showing.js"
};
static const unsigned char file_snapshots_js[] = {
#embed "../Files/snapshots.js"
};
static const unsigned char file_state_js[] = {
#embed "../Files/state.js"
};
static const unsigned char file_statistics_js[] = {
#embed "../Files/statistics.js"
};
static const unsigned char file_sweeping_js[] = {
#embed "../Files/sweeping.js"
};
static const unsigned char file_tweaks_js[] = {
#embed "../Files/tweaks.js"
};
static const unsigned char file_undo_js[] = {
#embed "../Files/undo.js"
};
static const unsigned char file_zooming_js[] = {
#embed "../Files/zooming.js"
};

static const struct tweak_page_file files[] = {
    {"address.js", file_address_js, sizeof(file_address_js)},
    {"api.js", file_api_js, sizeof(file_api_js)},
    {"axes.js", file_axes_js, sizeof(file_axes_js)},
    {"bar.js", file_bar_js, sizeof(file_bar_js)},
    {"changes.js", file_changes_js, sizeof(file_changes_js)},
    {"clock.js", file_clock_js, sizeof(file_clock_js)},
    {"colours.js", file_colours_js, sizeof(file_colours_js)},
    {"commands.js", file_commands_js, sizeof(file_commands_js)},
    {"comparing.js", file_comparing_js, sizeof(file_comparing_js)},
    {"controllers.js", file_controllers_js, sizeof(file_controllers_js)},
    {"controls/action.js", file_controls_action_js, sizeof(file_controls_action_js)},
    {"controls/all.js", file_controls_all_js, sizeof(file_controls_all_js)},
    {"controls/choice.js", file_controls_choice_js, sizeof(file_controls_choice_js)},
    {"controls/colour.js", file_controls_colour_js, sizeof(file_controls_colour_js)},
    {"controls/monitor.js", file_controls_monitor_js, sizeof(file_controls_monitor_js)},
    {"controls/none.js", file_controls_none_js, sizeof(file_controls_none_js)},
    {"controls/number.js", file_controls_number_js, sizeof(file_controls_number_js)},
    {"controls/pad.js", file_controls_pad_js, sizeof(file_controls_pad_js)},
    {"controls/sliding.js", file_controls_sliding_js, sizeof(file_controls_sliding_js)},
    {"controls/switch.js", file_controls_switch_js, sizeof(file_controls_switch_js)},
    {"controls/text.js", file_controls_text_js, sizeof(file_controls_text_js)},
    {"copying.js", file_copying_js, sizeof(file_copying_js)},
    {"details.js", file_details_js, sizeof(file_details_js)},
    {"dom.js", file_dom_js, sizeof(file_dom_js)},
    {"drawing.js", file_drawing_js, sizeof(file_drawing_js)},
    {"durations.js", file_durations_js, sizeof(file_durations_js)},
    {"editing.js", file_editing_js, sizeof(file_editing_js)},
    {"exporting.js", file_exporting_js, sizeof(file_exporting_js)},
    {"finding.js", file_finding_js, sizeof(file_finding_js)},
    {"fleet.html", file_fleet_html, sizeof(file_fleet_html)},
    {"fleet/changing.js", file_fleet_changing_js, sizeof(file_fleet_changing_js)},
    {"fleet/environments.js", file_fleet_environments_js, sizeof(file_fleet_environments_js)},
    {"fleet/fleet.css", file_fleet_fleet_css, sizeof(file_fleet_fleet_css)},
    {"fleet/fleet.js", file_fleet_fleet_js, sizeof(file_fleet_fleet_js)},
    {"fleet/history.js", file_fleet_history_js, sizeof(file_fleet_history_js)},
    {"fleet/hosts.js", file_fleet_hosts_js, sizeof(file_fleet_hosts_js)},
    {"fleet/listing.js", file_fleet_listing_js, sizeof(file_fleet_listing_js)},
    {"fleet/rollouts.js", file_fleet_rollouts_js, sizeof(file_fleet_rollouts_js)},
    {"fleet/values.js", file_fleet_values_js, sizeof(file_fleet_values_js)},
    {"following.js", file_following_js, sizeof(file_following_js)},
    {"graphs.js", file_graphs_js, sizeof(file_graphs_js)},
    {"help.js", file_help_js, sizeof(file_help_js)},
    {"icon.svg", file_icon_svg, sizeof(file_icon_svg)},
    {"index.html", file_index_html, sizeof(file_index_html)},
    {"keeping.js", file_keeping_js, sizeof(file_keeping_js)},
    {"keyboard.js", file_keyboard_js, sizeof(file_keyboard_js)},
    {"keys.js", file_keys_js, sizeof(file_keys_js)},
    {"knobs.js", file_knobs_js, sizeof(file_knobs_js)},
    {"list.js", file_list_js, sizeof(file_list_js)},
    {"morphing.js", file_morphing_js, sizeof(file_morphing_js)},
    {"names.js", file_names_js, sizeof(file_names_js)},
    {"notices.js", file_notices_js, sizeof(file_notices_js)},
    {"numbers.js", file_numbers_js, sizeof(file_numbers_js)},
    {"outline.js", file_outline_js, sizeof(file_outline_js)},
    {"page.css", file_page_css, sizeof(file_page_css)},
    {"page.js", file_page_js, sizeof(file_page_js)},
    {"palette.js", file_palette_js, sizeof(file_palette_js)},
    {"panels.js", file_panels_js, sizeof(file_panels_js)},
    {"panels/arranging.js", file_panels_arranging_js, sizeof(file_panels_arranging_js)},
    {"panels/content.js", file_panels_content_js, sizeof(file_panels_content_js)},
    {"panels/graph.js", file_panels_graph_js, sizeof(file_panels_graph_js)},
    {"panels/list.js", file_panels_list_js, sizeof(file_panels_list_js)},
    {"panels/panels.css", file_panels_panels_css, sizeof(file_panels_panels_css)},
    {"panels/reading.js", file_panels_reading_js, sizeof(file_panels_reading_js)},
    {"panels/view.js", file_panels_view_js, sizeof(file_panels_view_js)},
    {"patches.js", file_patches_js, sizeof(file_patches_js)},
    {"plotting.js", file_plotting_js, sizeof(file_plotting_js)},
    {"popups.js", file_popups_js, sizeof(file_popups_js)},
    {"preferences.js", file_preferences_js, sizeof(file_preferences_js)},
    {"presets.js", file_presets_js, sizeof(file_presets_js)},
    {"restarting.js", file_restarting_js, sizeof(file_restarting_js)},
    {"row.js", file_row_js, sizeof(file_row_js)},
    {"runs.js", file_runs_js, sizeof(file_runs_js)},
    {"samples.js", file_samples_js, sizeof(file_samples_js)},
    {"sets.js", file_sets_js, sizeof(file_sets_js)},
    {"showing.js", file_showing_js, sizeof(file_showing_js)},
    {"snapshots.js", file_snapshots_js, sizeof(file_snapshots_js)},
    {"state.js", file_state_js, sizeof(file_state_js)},
    {"statistics.js", file_statistics_js, sizeof(file_statistics_js)},
    {"sweeping.js", file_sweeping_js, sizeof(file_sweeping_js)},
    {"tweaks.js", file_tweaks_js, sizeof(file_tweaks_js)},
    {"undo.js", file_undo_js, sizeof(file_undo_js)},
    {"zooming.js", file_zooming_js, sizeof(file_zooming_js)},
};

struct tweak_page_file tweak_page_file_at(size_t place) {
  static const struct tweak_page_file none;
  return place < sizeof files / sizeof *files ? files[place] : none;
}
