// Command build makes the playground: a folder of static files for any host. Run it in the root of the checkout:
//
//	go run ./web/build                       # into web/dist
//	go run ./web/build -serve 127.0.0.1:8080 # and serve the folder, to look at it
//
// It compiles cmd/internal/playground to WebAssembly and gathers the examples from the documentation. It copies the files of the page, the
// style of deed blame -o html, and the support file of the Go release. It prints the sizes.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	out := flag.String("o", "web/dist", "the `folder` to write")
	serve := flag.String("serve", "", "then serve the folder at this `address`")
	flag.Parse()
	if err := build(*out); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n", err)
		os.Exit(1)
	}
	if *serve != "" {
		fmt.Printf("http://%s/\n", *serve)
		fmt.Fprintln(os.Stderr, http.ListenAndServe(*serve, http.FileServer(http.Dir(*out))))
		os.Exit(1)
	}
}

// The packages of the command's module, from which the page is made.
const (
	program  = "./cmd/internal/playground/wasm"
	examples = "./cmd/internal/playground/examples"
)

// build writes the page to the folder out.
func build(out string) error {
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	wasm, err := compile()
	if err != nil {
		return err
	}
	files := map[string][]byte{"deed.wasm.gz": compress(wasm)}
	if files["examples.json"], err = run(nil, "go", "run", examples); err != nil {
		return err
	}
	root, err := run(nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	copied := []string{filepath.Join(strings.TrimSpace(string(root)), "lib/wasm/wasm_exec.js"), "cmd/internal/page/page.css"}
	for _, pattern := range []string{"web/*.html", "web/*.css", "web/*.js", "web/*.svg"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		copied = append(copied, found...)
	}
	for _, name := range copied {
		if files[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			return err
		}
	}
	total := 0
	for _, name := range sortedNames(files) {
		text := files[name]
		if err := os.WriteFile(filepath.Join(out, name), text, 0o666); err != nil {
			return err
		}
		size := len(text)
		if name != "deed.wasm.gz" {
			size = len(compress(text))
		}
		total += size
		fmt.Printf("%10d  %10d  %s\n", len(text), size, name)
	}
	fmt.Printf("%10s  %10d  bytes with gzip\n", "", total)
	return nil
}

// compile returns the program. Its tag leaves out OpenAPI documents, which the page does not read, and whose libraries are as large as all
// the rest. deed's own functions are not inlined: with gzip, that saves a tenth of the program.
func compile() ([]byte, error) {
	dir, err := os.MkdirTemp("", "playground")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "deed.wasm")
	_, err = run([]string{"GOOS=js", "GOARCH=wasm"},
		"go", "build", "-trimpath", "-tags", "openapi_crdonly", "-gcflags", "github.com/deed-project/deed/...=-l", "-ldflags", "-s -w", "-o", file, program)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// run returns the output of a command.
func run(env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return out, nil
}

// compress returns text with gzip, as small as it gets.
func compress(text []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err = cmp.Or(err, w.Close()); err != nil { // a buffer takes everything
		panic(err)
	}
	return b.Bytes()
}

func sortedNames(files map[string][]byte) []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
