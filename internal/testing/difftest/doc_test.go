// Package difftest runs random histories in structured-merge-diff and in deed, and compares every answer.
//
// The default is a few thousand histories. DEED_HISTORIES=100000 in the environment runs that many, and DEED_SEED=7 begins with another
// seed. A history with a difference is shrunk and saved as a script in testdata/script/engine, which is replayed in both engines from then
// on.
package difftest
