package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/deed-project/deed/oracle/pair"
)

// findings are the differences of a campaign.
type findings struct {
	mu      sync.Mutex
	classes map[string]*class
	file    *json.Encoder       // of all exchanges that differ, or nil
	alike   map[string]exchange // by the class of the refusal
	differ  int
	refused int
	panics  int // of the real server
	chances int
	err     error
}

// class is a kind of difference.
type class struct {
	name    string
	count   int
	example exchange
}

func newFindings() *findings {
	return &findings{classes: map[string]*class{}, alike: map[string]exchange{}}
}

func (f *findings) add(x exchange) {
	names := x.classes()
	f.mu.Lock()
	defer f.mu.Unlock()
	if x.err != nil {
		f.err = cmp.Or(f.err, x.err)
		return
	}
	if x.Real.Code >= 300 {
		f.refused++
	}
	switch {
	case x.panicked():
		f.panics++
		return
	case x.chance:
		f.chances++
		return
	}
	if len(names) > 0 {
		f.differ++
		if f.file != nil {
			f.err = cmp.Or(f.err, f.file.Encode(x))
		}
	} else {
		f.keep(x)
	}
	for _, name := range names {
		c := f.classes[name]
		if c == nil {
			c = &class{name: name, example: x}
			f.classes[name] = c
		}
		if c.count++; x.simpler(c.example) {
			c.example = x
		}
	}
}

// keep keeps the simplest of the requests that are refused for the same reasons, and one for each warning. Answers in random order are of
// no use.
func (f *findings) keep(x exchange) {
	if x.random() {
		return
	}
	for _, name := range x.refusals() {
		if had, ok := f.alike[name]; !ok || x.simpler(had) {
			f.alike[name] = x
		}
	}
}

// Fields of errors in maps, whose order is random: the errors name a key, or the whole map.
var (
	keyed    = regexp.MustCompile(`^(.*?)\[[^\]]*[^\]0-9][^\]]*\]`)
	mapNames = regexp.MustCompile(`(abels|nnotations|nodeSelector|parameters)$`)
)

// random reports whether the refusals of an answer have two keys of one map.
func (x exchange) random() bool {
	met := map[string]string{} // the key of each map
	for _, c := range x.Real.Details.Causes {
		name, key := c.Field, ""
		if m := keyed.FindStringSubmatch(c.Field); m != nil {
			name, key = m[1], m[0]
		} else if mapNames.MatchString(c.Field) {
			key, _, _ = strings.Cut(strings.TrimPrefix(c.Message, "Invalid value: "), `": `)
		}
		if had, ok := met[name]; ok && key != "" && had != key {
			return true
		}
		met[name] = key
	}
	return false
}

// simpler makes the choice of an example independent of the order in which requests are answered.
func (x exchange) simpler(than exchange) bool {
	return cmp.Or(cmp.Compare(len(x.Edits), len(than.Edits)), cmp.Compare(len(x.Real.Details.Causes), len(than.Real.Details.Causes)),
		cmp.Compare(len(x.key()), len(than.key())), strings.Compare(x.key(), than.key())) < 0
}

func (x exchange) key() string { return fmt.Sprint(x.request) }

func (x exchange) kind() string { return x.Base[:strings.LastIndex(x.Base, "/")] }

var (
	indexes = regexp.MustCompile(`\[[^\]]*\]*`)
	quoted  = regexp.MustCompile(`"[^"]*"|[0-9]+`)
)

// refusals returns the classes of what the real server refuses and warns of.
func (x exchange) refusals() []string {
	var out []string
	for _, c := range x.Real.Details.Causes {
		name, field := x.kind()+" "+x.Verb, indexes.ReplaceAllString(c.Field, "[]")
		if at := inTemplate.FindStringIndex(field); at != nil { // whose rules are the same in all kinds
			name, field = "template", field[at[1]:]
		}
		out = append(out, fmt.Sprintf("%s %s %s", name, field, c.Reason))
	}
	if x.Real.Code >= 300 && len(out) == 0 {
		out = append(out, fmt.Sprintf("%s %s %d %s", x.kind(), x.Verb, x.Real.Code, plain(x.Real.Message)))
	}
	for _, w := range x.Real.Warnings {
		out = append(out, fmt.Sprintf("%s %s warning %s", x.kind(), x.Verb, plain(w)))
	}
	return out
}

// plain returns the beginning of a text without what it quotes.
func plain(text string) string {
	text = quoted.ReplaceAllString(indexes.ReplaceAllString(text, "[]"), "_")
	return text[:min(len(text), 90)]
}

// classes returns the classes of the differences between both answers.
func (x exchange) classes() []string {
	if x.err != nil {
		return nil
	}
	found := map[string]bool{}
	note := func(format string, a ...any) {
		found[x.kind()+" "+x.Verb+" "+fmt.Sprintf(format, a...)] = true
	}
	there, here := x.Real, x.Deed
	compareCauses(there.Details.Causes, here.Details.Causes, note)
	if len(found) == 0 && there.Code != here.Code {
		note("%d %q there, %d %q here", there.Code, plain(there.Message), here.Code, plain(here.Message))
	}
	if len(found) == 0 && (there.Message != here.Message || there.Reason != here.Reason) {
		note("message %q there, %q here", plain(there.Message), plain(here.Message))
	}
	if t, h := pair.Shown(there.Details), pair.Shown(here.Details); len(found) == 0 && t != h {
		note("details")
	}
	if there.Code < 300 && here.Code < 300 || there.Code == here.Code {
		compareWarnings(there.Warnings, here.Warnings, note)
	}
	return slices.Sorted(maps.Keys(found))
}

func compareCauses(there, here []pair.Cause, note func(string, ...any)) {
	if slices.Equal(there, here) {
		return
	}
	left := slices.Clone(here)
	var only []pair.Cause
	for _, c := range there {
		if i := slices.Index(left, c); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else {
			only = append(only, c)
		}
	}
	if len(only) == 0 && len(left) == 0 {
		note("%s: order", indexes.ReplaceAllString(there[0].Field, "[]"))
	}
	for _, c := range only {
		field := indexes.ReplaceAllString(c.Field, "[]")
		if i := slices.IndexFunc(left, func(d pair.Cause) bool { return d.Field == c.Field && d.Reason == c.Reason }); i >= 0 {
			left = slices.Delete(left, i, i+1)
			note("%s: %s: text", field, c.Reason)
			continue
		}
		note("%s: %s only there", field, c.Reason)
	}
	for _, c := range left {
		note("%s: %s only here", indexes.ReplaceAllString(c.Field, "[]"), c.Reason)
	}
}

func compareWarnings(there, here []string, note func(string, ...any)) {
	if slices.Equal(there, here) {
		return
	}
	before := false
	for _, w := range there {
		if !slices.Contains(here, w) {
			before = true
			note("warning %s only there", plain(w))
		}
	}
	for _, w := range here {
		if !slices.Contains(there, w) {
			before = true
			note("warning %s only here", plain(w))
		}
	}
	if !before {
		note("order of warnings")
	}
}

// print prints the classes, the most frequent first.
func (f *findings) print() {
	sorted := slices.SortedFunc(maps.Values(f.classes), func(a, b *class) int {
		return cmp.Or(cmp.Compare(b.count, a.count), strings.Compare(a.name, b.name))
	})
	for _, c := range sorted {
		fmt.Printf("%6d %s\n         %s\n", c.count, c.name, c.example.request)
		fmt.Printf("         there %s\n         here  %s\n", c.example.Real, c.example.Deed)
	}
	fmt.Println(len(f.classes), "classes")
}

func (r request) String() string {
	text := r.Verb + " " + r.Base
	if r.Onto != "" && r.Onto != r.Base {
		text += " onto " + r.Onto
	}
	for _, e := range r.Edits {
		text += "; " + e.String()
	}
	return text
}

// recording writes the requests that both servers refuse alike, and before them the base objects that these requests are about.
func (c *campaign) recording(w *json.Encoder, f *findings) error {
	kept, used := map[string]exchange{}, map[string]bool{}
	for _, x := range f.alike {
		kept[x.key()] = x
		used[x.Base], used[x.Onto] = true, true
	}
	for _, b := range c.order {
		if !used[b.ID] {
			continue
		}
		if err := w.Encode(map[string]any{"base": b}); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(kept)) {
		x := kept[key]
		if err := w.Encode(map[string]any{"request": x.request, "answer": x.Real}); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes JSON documents, compressed if the name of the file ends with .gz.
func writeFile(name string, write func(*json.Encoder) error) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, f.Close()) }()
	buffered := bufio.NewWriter(f)
	var out io.Writer = buffered
	var packed *gzip.Writer
	if strings.HasSuffix(name, ".gz") {
		if packed, err = gzip.NewWriterLevel(buffered, gzip.BestCompression); err != nil {
			return err
		}
		out = packed
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := write(encoder); err != nil {
		return err
	}
	if packed != nil {
		if err := packed.Close(); err != nil {
			return err
		}
	}
	return buffered.Flush()
}
