//go:build js && wasm

// Command wasm is package playground for a browser: it defines the function deedAnswer, which takes a request as JSON and returns its answer
// as JSON, and calls deedReady.
package main

import (
	"syscall/js"

	"github.com/deed-project/deed/cmd/internal/playground"
)

func main() {
	js.Global().Set("deedAnswer", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(playground.Do([]byte(args[0].String())))
	}))
	js.Global().Call("deedReady")
	select {} // the function is called from now on
}
