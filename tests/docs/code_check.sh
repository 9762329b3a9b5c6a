#!/usr/bin/env bash
# code_check.sh PAGE EXAMPLES: checks that each block of C++ on the page is cut from an example. All paragraphs of a
# block must be in one file below the folder, line by line; only the indentation may differ.
set -euo pipefail
page=$1 folder=$2
mapfile -t files < <(find "$folder" -name '*.cpp' -o -name '*.hpp' | sort)

awk -v page="$page" '
    function bare(line) { sub(/^[ \t]+/, "", line); sub(/[ \t]+$/, "", line); return line }
    # A text of lines, each between newlines, so that a paragraph is found by whole lines only.
    FILENAME != page { text[FILENAME] = text[FILENAME] bare($0) "\n"; next }
    /^```cpp$/ { inside = 1; blocks++; count = 0; start = FNR; paragraph = ""; delete paragraphs; next }
    inside && /^```$/ { if (paragraph != "") paragraphs[++count] = paragraph; inside = 0; look(); next }
    inside && bare($0) == "" { if (paragraph != "") paragraphs[++count] = paragraph; paragraph = ""; next }
    inside { paragraph = paragraph bare($0) "\n" }
    function look(file, i, missing, best, fewest) {
        fewest = count + 1
        for (file in text) {
            missing = 0
            for (i = 1; i <= count; i++) if (!index("\n" text[file], "\n" paragraphs[i])) missing++
            if (missing < fewest) { fewest = missing; best = file }
        }
        if (fewest == 0) return
        printf "%s:%d: this code is in no example (nearest: %s):\n", page, start, best
        for (i = 1; i <= count; i++) if (!index("\n" text[best], "\n" paragraphs[i])) printf "%s", paragraphs[i]
        failed = 1
    }
    END { if (!blocks) { print page ": no code at all"; failed = 1 } exit failed }
' "${files[@]}" "$page"
