// Package difftest runs random histories through structured-merge-diff and through deed, and compares every answer.
//
// By default a few thousand histories are run. DEED_HISTORIES=100000 in the environment runs that many instead, and
// DEED_SEED=7 begins with another seed. A history with a difference is made smaller, and saved as a script in
// testdata/script/engine, from where it is replayed on both engines from then on.
package difftest
