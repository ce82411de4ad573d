// Package browser_test looks at the playground with a real browser: see README of the folder in CONTRIBUTING.md.
package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
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
	ctx, stop := context.WithTimeout(ctx, 2*time.Minute)
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

func (x *tab) shot(name string, full bool) {
	x.Helper()
	var png []byte
	action := chromedp.CaptureScreenshot(&png)
	if full {
		action = chromedp.FullScreenshot(&png, 100)
	}
	x.do(action)
	if err := os.WriteFile(name, png, 0o666); err != nil {
		x.Fatal(err)
	}
}

func TestShots(t *testing.T) {
	dir := os.Getenv("DEED_SHOTS")
	if dir == "" {
		t.Skip("DEED_SHOTS names no folder for pictures")
	}
	for _, c := range []struct {
		name, fragment, click string
		width                 int64
		dark                  bool
	}{
		{"conflicts", "", "", 1280, false},
		{"conflicts-dark", "", "", 1280, true},
		{"plan", "#example=cli/plan", "", 1280, false},
		{"object", "#example=cli/diff", "", 1280, true},
		{"history", "#example=replay/who-scales", "#next", 1280, false},
		{"rule", "#example=rules/A6", "#next", 1280, true},
		{"validate", "#example=cli/validate", "", 1280, false},
		{"text", "", "#tab-text", 1280, false},
		{"narrow", "", "", 360, false},
		{"narrow-plan", "#example=cli/plan", "", 360, true},
		{"narrow-history", "#example=replay/who-scales", "#next", 360, false},
		{"narrow-object", "#example=cli/blame", "", 360, false},
	} {
		x := open(t, c.width, c.dark, c.fragment)
		if c.click != "" {
			x.do(chromedp.Click(c.click, chromedp.ByQuery))
		}
		x.shot(filepath.Join(dir, c.name+".png"), c.width < 500)
	}
}
