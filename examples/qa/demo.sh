#!/bin/sh
# The demonstration: from a generator of facts to a trained model that answers a question.
#
#     examples/qa/demo.sh BINARIES        as `make demo` calls it, with build/release
#
# Everything it writes is in build/demo. QUESTION="..." in the environment replaces the question
# asked at the end about the paragraph shown there. README.md beside this file explains the flags.
set -eu

if [ $# -ne 1 ]; then
    echo "usage: demo.sh BINARIES (the folder that holds yoke and generate_facts)" >&2
    exit 2
fi
binaries=$1
here=$(dirname "$0")
out=build/demo
yoke=$binaries/yoke
generate=$binaries/generate_facts

say() {
    printf '\n== %s\n' "$*"
}

# The value of one number in a results file of one key per line.
value() {
    sed -n "s/^ *\"$2\": *\([0-9.]*\).*/\1/p" "$1"
}

# train LESSON RATE WARMUP MODEL...: one epoch over the lesson's file; the model goes to its folder.
train() {
    lesson=$1
    rate=$2
    warmup=$3
    shift 3
    OMP_NUM_THREADS=1 "$yoke" launch -n 2 qa "$@" --train_file "$out/$lesson.json" --do_train \
        --per_device_train_batch_size 16 --num_train_epochs 1 --max_seq_length 256 \
        --learning_rate "$rate" --warmup_ratio "$warmup" --lr_scheduler_type linear \
        --adam_beta1 0.9 --adam_beta2 0.99 --weight_decay 0 --max_grad_norm 1.0 \
        --logging_steps 250 --save_strategy no --output_dir "$out/$lesson" --overwrite_output_dir
}

# score NAME FILE TITLE: evaluates the trained model on FILE and prints one line.
score() {
    "$yoke" qa --model_name_or_path "$out/facts" --do_eval --validation_file "$2" \
        --max_seq_length 256 --doc_stride 64 --per_device_eval_batch_size 64 --log_level error \
        --output_dir "$out/$1" --overwrite_output_dir >"$out/$1.log" 2>&1 ||
        { cat "$out/$1.log" >&2; exit 1; }
    printf '   %-46s EM %6.2f   F1 %6.2f\n' "$3" \
        "$(value "$out/$1/eval_results.json" eval_exact_match)" \
        "$(value "$out/$1/eval_results.json" eval_f1)"
}

rm -rf "$out"
mkdir -p "$out"

say "Writing facts: training, and held-out ones with other names and other sentences"
"$generate" --split train --lesson names --paragraphs 30000 --questions 1 --seed 1 \
    --output "$out/names.json"
"$generate" --split train --lesson facts --paragraphs 60000 --questions 1 --seed 2 \
    --output "$out/facts.json"
"$generate" --split heldout --paragraphs 300 --questions 2 --seed 3 --output "$out/heldout.json"
"$generate" --split heldout --paragraphs 300 --questions 2 --seed 3 --blank-questions \
    --output "$out/blank.json"

say "First lesson, from fresh weights on two ranks: find a name in a list"
train names 2e-3 0.05 --config_name "$here/model" --tokenizer_name "$here/model"

say "Second lesson: questions about facts"
train facts 1.5e-3 0.03 --model_name_or_path "$out/names"

say "Evaluation"
score heldout "$out/heldout.json" "held-out facts: new names, new sentences"
score blank "$out/blank.json" "the same with every question blanked"
score handwritten "$here/handwritten.json" "hand-written prose, unlike the training text"

# A paragraph of heldout.json.
context="The mayor whom the people of Old Nordale chose is Solric Tamric. 1972 was the year in which \
New Vinham was founded. 1669 was the year in which Upper Tamfield was founded. The town books \
tell us that 1665 was the year in which Old Nordale was founded. Huldan Calvek is mayor in Upper \
Tamfield. For years New Vinham has been led by Fenmi Calvek."
question=${QUESTION:-By whom is New Vinham governed?}
say "One question (QUESTION=\"...\" make demo asks another)"
"$yoke" qa --model_name_or_path "$out/facts" --context "$context" --answer "$question"
