#!/bin/sh
# The demonstration: from a generator of facts to a trained model that answers a question.
#
#     examples/qa/demo.sh BINARIES        as `make demo` calls it, with build/release
#
# Everything it writes is in build/demo: the model and its scores in model, the scores with blanked
# questions in blanked. QUESTION="..." in the environment replaces the question asked at the end
# about the paragraph shown there. README.md beside this file explains the flags.
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

# train FILE FOLDER RATE FLAG...: one epoch over FILE on two ranks; the model goes to FOLDER.
train() {
    file=$1
    folder=$2
    rate=$3
    shift 3
    OMP_NUM_THREADS=1 "$yoke" launch -n 2 qa "$@" --train_file "$file" --do_train \
        --per_device_train_batch_size 16 --num_train_epochs 1 --max_seq_length 256 \
        --learning_rate "$rate" --warmup_steps 50 --lr_scheduler_type linear \
        --adam_beta1 0.9 --adam_beta2 0.99 --weight_decay 0 --max_grad_norm 1.0 \
        --logging_steps 250 --save_strategy no --log_level warning \
        --output_dir "$folder" --overwrite_output_dir
}

# score NAME FILE: evaluates the trained model on FILE; the scores go to the folder NAME.
score() {
    "$yoke" qa --model_name_or_path "$out/model" --do_eval --validation_file "$2" \
        --max_seq_length 256 --doc_stride 64 --per_device_eval_batch_size 64 \
        --output_dir "$out/$1" --overwrite_output_dir >"$out/$1.log" 2>&1 ||
        { cat "$out/$1.log" >&2; exit 1; }
}

# show NAME TITLE: prints one line of scores.
show() {
    printf '   %-46s EM %6.2f   F1 %6.2f\n' "$2" \
        "$(value "$out/$1/eval_results.json" eval_exact_match)" \
        "$(value "$out/$1/eval_results.json" eval_f1)"
}

rm -rf "$out"
mkdir -p "$out"

say "Writing facts: three lessons, and held-out facts with other names and other sentences"
"$generate" --split train --lesson names --paragraphs 30000 --questions 1 --seed 1 \
    --output "$out/names.json"
"$generate" --split train --lesson pairs --paragraphs 48000 --questions 1 --seed 2 \
    --output "$out/pairs.json"
"$generate" --split train --lesson facts --paragraphs 120000 --questions 1 --seed 3 \
    --output "$out/facts.json"
"$generate" --split heldout --paragraphs 400 --questions 2 --seed 4 --output "$out/heldout.json"
"$generate" --split heldout --paragraphs 400 --questions 2 --seed 4 --blank-questions \
    --output "$out/blanked.json"

say "First lesson, from fresh weights on two ranks: find a name in a list"
train "$out/names.json" "$out/names" 2e-3 --config_name "$here/model" --tokenizer_name "$here/model"

say "Second lesson: find what stands beside the name"
train "$out/pairs.json" "$out/pairs" 2e-3 --model_name_or_path "$out/names"

say "Third lesson: questions about facts"
train "$out/facts.json" "$out/model" 3e-3 --model_name_or_path "$out/pairs"

say "Evaluation"
score model "$out/heldout.json"
show model "held-out facts: new names, new sentences"
score blanked "$out/blanked.json"
show blanked "the same with every question blanked"
score handwritten "$here/handwritten.json"
show handwritten "hand-written prose, unlike the training text"

# A paragraph of heldout.json.
context="What Brusie loved was painted honey. The home of Pelwen was in Penholm. The family of \
Brusie is from Thornstead. Pelwen asked for fresh leather every day. The family of Dorna is from \
Shepport. Dorna always wanted red wine."
question=${QUESTION:-Which town is the birthplace of Dorna?}
say "One question (make demo QUESTION=\"...\" asks another)"
"$yoke" qa --model_name_or_path "$out/model" --context "$context" --answer "$question"
