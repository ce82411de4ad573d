// Package browser_test looks at the playground with a real browser. CONTRIBUTING.md has its commands.
package browser_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/deed-project/deed/internal/testing/replays"
	"github.com/deed-project/deed/internal/testing/seeds"
)

// root is the root of the checkout.
const root = "../.."

// site is a served page, and browser the context of a browser that opens tabs.
var (
	site    string
	folder  string
	browser context.Context
	deed    string // the command
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	program, err := chromium()
	if err != nil {
		fmt.Println("SKIP: the tests of the page need chromium: put it in the path, or its file in DEED_CHROMIUM:", err)
		return 0
	}
	dir, err := os.MkdirTemp("", "playground")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(dir)
	folder, deed = filepath.Join(dir, "site"), filepath.Join(dir, "deed")
	for _, args := range [][]string{{"run", "./web/build", "-o", folder}, {"build", "-o", deed, "./cmd/deed"}} {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Stderr, cmd.Env = root, os.Stderr, append(os.Environ(), "GOWORK=")
		if out, err := cmd.Output(); err != nil {
			fmt.Printf("go %s: %v\n%s", strings.Join(args, " "), err, out)
			return 1
		}
	}
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer server.Close()
	site = server.URL
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.Flag("font-render-hinting", "none"))
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancel()
	var end context.CancelFunc
	browser, end = chromedp.NewContext(allocator)
	defer end()
	if err := chromedp.Run(browser); err != nil {
		fmt.Println(err)
		return 1
	}
	return m.Run()
}

// chromium returns the program of a browser.
func chromium() (string, error) {
	if name := os.Getenv("DEED_CHROMIUM"); name != "" {
		return exec.LookPath(name)
	}
	var err error
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		var found string
		if found, err = exec.LookPath(name); err == nil {
			return found, nil
		}
	}
	return "", err
}

// tab is a page in the browser with what it complained about.
type tab struct {
	testing.TB
	context.Context
	mu         sync.Mutex
	complaints []string
}

// fixed makes the time of the page that of the command below.
const fixed = `globalThis.Date = class extends Date { constructor(...x) { super(...(x.length ? x : [1767225600000])); } };`

const epoch = "SOURCE_DATE_EPOCH=1767225600"

// open opens the page at a fragment, and waits for its first answer. A complaint of the page fails the test at its end.
func open(t testing.TB, width int64, dark bool, fragment string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	ctx, stop := context.WithTimeout(ctx, 5*time.Minute)
	x := &tab{TB: t, Context: ctx}
	t.Cleanup(func() {
		stop()
		cancel()
		x.mu.Lock()
		defer x.mu.Unlock()
		for _, c := range x.complaints {
			t.Errorf("the page complains: %s", c)
		}
	})
	complain := func(text string) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.complaints = append(x.complaints, text)
	}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			complain(e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
				text, _ := json.Marshal(e.Args)
				complain(string(text))
			}
		case *log.EventEntryAdded:
			complain(fmt.Sprintf("%s: %s (%s)", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	})
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	x.do(log.Enable(), chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(fixed).Do(ctx)
		return err
	}), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.EmulateViewport(width, 900), chromedp.Navigate(site+"/"+fragment))
	x.until(`document.documentElement.dataset.answered`)
	return x
}

func (x *tab) do(actions ...chromedp.Action) {
	x.Helper()
	if err := chromedp.Run(x.Context, actions...); err != nil {
		x.Fatal(err)
	}
}

// until waits until an expression is true.
func (x *tab) until(expression string) {
	x.Helper()
	x.do(chromedp.Poll(expression, nil, chromedp.WithPollingInterval(20*time.Millisecond)))
}

// eval returns the value of an expression.
func eval[T any](x *tab, expression string) (out T) {
	x.Helper()
	x.do(chromedp.Evaluate(expression, &out, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return out
}

// group is a group of examples, as the page reads them.
type group struct {
	Name     string
	Examples []struct{ ID, Mode string }
}

func examples(t *testing.T) []group {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "examples.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out []group
	if err := json.Unmarshal(text, &out); err != nil || len(out) == 0 {
		t.Fatalf("%d groups of examples: %v", len(out), err)
	}
	return out
}

// answered is an expression: the number of the last answer.
const answered = `Number(document.documentElement.dataset.answered)`

// TestEveryExample chooses each example in one page: each has an answer, and the page does not complain.
func TestEveryExample(t *testing.T) {
	x := open(t, 1280, false, "")
	for _, g := range examples(t) {
		for _, e := range g.Examples {
			x.follow("#example=" + e.ID)
			shown := `document.querySelector('#panel-object').textContent`
			if e.Mode == "history" {
				shown = `document.querySelector('#panel-step').textContent`
			}
			if text := eval[string](x, shown); strings.TrimSpace(text) == "" || strings.Contains(text, "[object") || strings.Contains(text, "undefined") {
				t.Errorf("%s shows %q", e.ID, text)
			}
		}
	}
}

// typed puts text into an editor, and waits for the answer.
func (x *tab) typed(editor, text string) {
	x.Helper()
	before := eval[int](x, answered)
	quoted, err := json.Marshal(text)
	if err != nil {
		x.Fatal(err)
	}
	x.do(chromedp.Evaluate(fmt.Sprintf(`{ const e = document.getElementById(%q); e.value = %s; e.dispatchEvent(new Event('input')); }`, editor, quoted), nil))
	x.until(fmt.Sprintf("%s > %d", answered, before))
}

// follow leads the page to a fragment, and waits for the answer.
func (x *tab) follow(fragment string) {
	x.Helper()
	if eval[string](x, `location.hash`) == fragment {
		return
	}
	before := eval[int](x, answered)
	x.do(chromedp.Evaluate(fmt.Sprintf(`location.hash = %q`, fragment), nil))
	x.until(fmt.Sprintf("%s > %d", answered, before))
}

// TestRandomHistories types random histories, and compares the page with what deed replay prints.
func TestRandomHistories(t *testing.T) {
	x := open(t, 1280, false, "#example=replay/who-scales")
	for seed := range seeds.Each(t, 5) {
		text := replays.Deployment(seeds.Stream(seed, 1))
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "history.txtar"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(deed, "replay", "-f", "history.txtar")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), epoch)
		want, err := cmd.Output()
		if err != nil && cmd.ProcessState.ExitCode() > 1 {
			t.Fatal(err)
		}
		x.typed("history", text)
		got := eval[string](x, `document.querySelector('#panel-replay pre').textContent`)
		if got != string(want) {
			t.Errorf("the page has\n%s\nthe command\n%s", got, want)
		}
		steps := strings.Count(text, "- manager:")
		if max := eval[string](x, `document.querySelector('#step').max`); max != fmt.Sprint(steps) {
			t.Errorf("the slider has %s steps, want %d", max, steps)
		}
	}
}

// TestRemedies presses the three buttons of the conflict of the README.
func TestRemedies(t *testing.T) {
	for i, button := range []string{"Take it", "Share it", "Give it up"} {
		x := open(t, 1280, false, "#example=readme")
		x.do(chromedp.Click(fmt.Sprintf(".remedies button:nth-child(%d)", i+1), chromedp.ByQuery))
		x.until(`document.querySelector('#summary').textContent.includes('Stored')`)
		if text := eval[string](x, `document.querySelector('#config').value`); strings.Contains(text, "web:1.5.0") != (button == "Take it") {
			t.Errorf("%s: the configuration is\n%s", button, text)
		}
	}
}

// TestKeyboard moves through the tabs and the steps with keys alone.
func TestKeyboard(t *testing.T) {
	x := open(t, 1280, false, "#example=readme")
	x.do(chromedp.Focus("#tab-conflicts", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight))
	if id := eval[string](x, `document.activeElement.id`); id != "tab-object" || !eval[bool](x, `!document.querySelector('#panel-object').hidden`) {
		t.Errorf("the arrow leads to %s", id)
	}
	x.do(chromedp.KeyEvent(kb.End))
	if id := eval[string](x, `document.activeElement.id`); id != "tab-text" {
		t.Errorf("End leads to %s", id)
	}
	x.do(chromedp.Focus("#config", chromedp.ByQuery), chromedp.KeyEvent(kb.Tab))
	if id := eval[string](x, `document.activeElement.id`); id == "config" {
		t.Error("Tab does not leave the editor")
	}
	y := open(t, 1280, false, "#example=replay/who-scales")
	y.do(chromedp.Focus("#step", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight))
	if at := eval[string](y, `document.querySelector('#position').value`); at != "Step 2 of 4" {
		t.Errorf("the arrow leads to %q", at)
	}
}

// TestLink opens the link that the button makes: it has the same texts and the same answer.
func TestLink(t *testing.T) {
	x := open(t, 1280, false, "#example=readme")
	x.typed("config", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ü, namespace: shop}\ndata: {a: b}\n")
	x.do(chromedp.Click("#share", chromedp.ByQuery))
	x.until(`location.hash.startsWith('#s=')`)
	texts := `[...document.querySelectorAll('textarea')].map((e) => e.value).join('|') + document.querySelector('#panel-object').textContent`
	y := open(t, 1280, false, eval[string](x, `location.hash`))
	if got, want := eval[string](y, texts), eval[string](x, texts); got != want {
		t.Errorf("the link leads to\n%s\nwant\n%s", got, want)
	}
}

// TestTheme presses the button until the page is dark on a light system.
func TestTheme(t *testing.T) {
	x := open(t, 1280, false, "")
	ground := `getComputedStyle(document.body).backgroundColor`
	light := eval[string](x, ground)
	x.do(chromedp.Click("#theme", chromedp.ByQuery), chromedp.Click("#theme", chromedp.ByQuery))
	if dark := eval[string](x, ground); dark == light || eval[string](x, `document.documentElement.dataset.theme`) != "dark" {
		t.Errorf("the dark page is %s, and the light one %s", dark, light)
	}
}

// TestNothingElse checks that the page loads nothing but its own files.
func TestNothingElse(t *testing.T) {
	x := open(t, 1280, false, "")
	for _, name := range eval[[]string](x, `performance.getEntriesByType('resource').map((e) => e.name)`) {
		if !strings.HasPrefix(name, site) {
			t.Errorf("the page loads %s", name)
		}
	}
}

// axe is the version of axe-core. It is fetched into a temporary directory.
const axe = "axe-core@4.10.3"

// TestAccessible runs axe-core on the page in all its states, narrow and wide, light and dark. Nothing may be wider than the page.
func TestAccessible(t *testing.T) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("there is no npm, which fetches axe-core:", err)
	}
	dir := t.TempDir()
	cmd := exec.Command(npm, "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", axe)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm install %s: %v\n%s", axe, err, out)
	}
	script, err := os.ReadFile(filepath.Join(dir, "node_modules/axe-core/axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	const check = `axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.map((v) => v.id + ': ' + v.help + ': ' + v.nodes.map((n) => n.html + ' ' + n.failureSummary).join('; ')))`
	for _, width := range []int64{360, 1280} {
		for _, dark := range []bool{false, true} {
			x := open(t, width, dark, "#example=readme")
			x.do(chromedp.Evaluate(string(script), nil))
			for _, state := range []struct{ fragment, click string }{
				{"#example=readme", ""}, {"#example=readme", "#tab-object"}, {"#example=readme", "#tab-plan"}, {"#example=readme", "#tab-text"},
				{"#example=cli/plan", ""}, {"#example=cli/validate", ""}, {"#example=cli/migrate", ""}, {"#example=cli/diff", "#tab-conflicts"},
				{"#example=replay/who-scales", "#next"}, {"#example=replay/atomic-list", ".whole summary"}, {"#example=rules/S3", "#more summary"},
			} {
				t.Run(fmt.Sprintf("%d/%t/%s%s", width, dark, state.fragment, state.click), func(t *testing.T) {
					x.follow(state.fragment)
					if state.click != "" {
						x.do(chromedp.Click(state.click, chromedp.ByQuery))
					}
					for _, violation := range eval[[]string](x, check) {
						t.Error(violation)
					}
					if over := eval[int](x, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
						t.Errorf("the page is %d pixels too wide", over)
					}
				})
			}
		}
	}
}

// most is the maximum size of everything that the page loads, compressed, in bytes.
const most = 3_000_000

// TestSize measures what the page loads, compressed with gzip and with brotli.
func TestSize(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var zipped, brotlied int
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) == ".gz" {
			r, err := gzip.NewReader(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if text, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
		var z, b bytes.Buffer
		zw, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		bw := brotli.NewWriterLevel(&b, 9)
		for _, w := range []io.WriteCloser{zw, bw} {
			if _, err := w.Write(text); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		zipped, brotlied = zipped+z.Len(), brotlied+b.Len()
	}
	t.Logf("the page has %d bytes with gzip, and %d with brotli", zipped, brotlied)
	if zipped > most {
		t.Errorf("the page has %d bytes with gzip, want at most %d", zipped, most)
	}
}

// TestTimes prints how long the page takes to its first answer, and to the answers to edits of a Deployment. It fails only if there is none:
// times depend on the machine.
func TestTimes(t *testing.T) {
	x := open(t, 1280, false, "#example=readme")
	first := eval[float64](x, `performance.getEntriesByName('first answer')[0].startTime`)
	text := eval[string](x, `document.querySelector('#config').value`)
	var edits []float64
	for i := range 30 {
		x.typed("config", strings.Replace(text, "replicas: 5", fmt.Sprintf("replicas: %d", i), 1))
		took, err := strconv.ParseFloat(eval[string](x, `document.documentElement.dataset.took`), 64)
		if err != nil {
			t.Fatal(err)
		}
		edits = append(edits, took)
	}
	slices.Sort(edits)
	t.Logf("first answer after %.0f ms; edits take %.1f ms (median), %.1f ms (longest)", first, edits[len(edits)/2], edits[len(edits)-1])
}

// TestShots takes pictures of the page, for docs/images and for a look at it, into the folder that DEED_SHOTS names.
func TestShots(t *testing.T) {
	dir := os.Getenv("DEED_SHOTS")
	if dir == "" {
		t.Skip("DEED_SHOTS names no folder for pictures")
	}
	for _, c := range []struct {
		name, fragment, click string
		width, height         int64
		dark                  bool
	}{
		{"playground", "#example=readme", "", 1280, 620, false},
		{"playground-history", "#example=replay/who-scales", "#next", 1280, 720, true},
		{"plan", "#example=cli/plan", "", 1280, 900, false},
		{"object", "#example=cli/diff", "", 1280, 900, true},
		{"refused", "#example=cli/validate", "", 1280, 900, false},
		{"narrow", "#example=readme", "#tab-plan", 360, 640, true},
	} {
		x := open(t, c.width, c.dark, c.fragment)
		x.do(chromedp.EmulateViewport(c.width, c.height))
		if c.click != "" {
			x.do(chromedp.Click(c.click, chromedp.ByQuery))
		}
		var png []byte
		action := chromedp.CaptureScreenshot(&png)
		if c.width < 500 {
			action = chromedp.FullScreenshot(&png, 100)
		}
		x.do(action)
		if err := os.WriteFile(filepath.Join(dir, c.name+".png"), png, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
