package apitest_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"

	"github.com/deed-project/deed/server/apitest"
)

// asked counts the requests for widgets by kind of request.
type asked struct {
	mu   sync.Mutex
	many map[string]int
}

func (a *asked) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind := "list"
		switch q := r.URL.Query(); {
		case r.Method != http.MethodGet:
			kind = r.Method
		case q.Get("sendInitialEvents") == "true":
			kind = "streamed list"
		case q.Get("watch") != "":
			kind = "watch"
		}
		a.mu.Lock()
		a.many[kind]++
		a.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

func (a *asked) how(kind string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.many[kind]
}

// listWatch implements cache.ListerWatcher for widgets, with or without streamed lists.
type listWatch struct {
	cache.ListWatch
	listsFirst bool
}

// IsWatchListSemanticsUnSupported tells a reflector to list before it watches.
func (l *listWatch) IsWatchListSemanticsUnSupported() bool { return l.listsFirst }

func listWatchOf(widgets dynamic.ResourceInterface, listsFirst bool) *listWatch {
	return &listWatch{cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return widgets.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return widgets.Watch(ctx, o)
		},
	}, listsFirst}
}

// TestReflectors checks reflectors and shared informers of client-go, with streamed lists and with lists before watches. They must know the
// stored objects, even after all their resource versions became too old.
func TestReflectors(t *testing.T) {
	t.Parallel()
	for name, listsFirst := range map[string]bool{"WatchList": false, "list and watch": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &asked{many: map[string]int{}}
			s, widgets := start(t, apitest.Wrap(a.count))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			ok := must[*unstructured.Unstructured](t)
			for i := range 20 {
				ok(widgets.Create(ctx, widget(fmt.Sprint("old-", i), nil), metav1.CreateOptions{}))
			}
			lw := listWatchOf(widgets, listsFirst)
			informer := cache.NewSharedIndexInformer(lw, &unstructured.Unstructured{}, 0, cache.Indexers{
				"color": func(o any) ([]string, error) {
					color, _, err := unstructured.NestedString(o.(*unstructured.Unstructured).Object, "spec", "color")
					return []string{color}, err
				},
			})
			reflected := cache.NewStore(cache.MetaNamespaceKeyFunc)
			reflector := cache.NewReflector(lw, &unstructured.Unstructured{}, reflected, 0)
			var running sync.WaitGroup
			running.Go(func() { informer.RunWithContext(ctx) })
			running.Go(func() { reflector.RunWithContext(ctx) })
			defer running.Wait()
			defer cancel()
			if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
				t.Fatal("the informer is not synchronized")
			}
			if got := len(informer.GetStore().ListKeys()); got != 20 {
				t.Errorf("the informer begins with %d objects", got)
			}
			s.Expire()
			for i := range 5 {
				ok(widgets.Create(ctx, widget(fmt.Sprint("new-", i), map[string]any{"color": "red"}), metav1.CreateOptions{}))
				if err := widgets.Delete(ctx, fmt.Sprint("old-", i), metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			last := ok(widgets.Create(ctx, widget("last", nil), metav1.CreateOptions{}))
			stored := must[*unstructured.UnstructuredList](t)(widgets.List(ctx, metav1.ListOptions{}))
			for name, known := range map[string]cache.Store{"informer": informer.GetStore(), "reflector": reflected} {
				for _, there, _ := known.GetByKey("default/last"); !there && ctx.Err() == nil; _, there, _ = known.GetByKey("default/last") {
					time.Sleep(time.Millisecond)
				}
				if len(known.ListKeys()) != len(stored.Items) {
					t.Errorf("the %s knows %d of %d objects", name, len(known.ListKeys()), len(stored.Items))
				}
				for _, o := range stored.Items {
					found, _, err := known.GetByKey("default/" + o.GetName())
					if had, ok := found.(*unstructured.Unstructured); err != nil || !ok || had.GetResourceVersion() != o.GetResourceVersion() {
						t.Errorf("the %s knows of %s: %v, %v", name, o.GetName(), found, err)
					}
				}
			}
			if red, err := informer.GetIndexer().ByIndex("color", "red"); err != nil || len(red) != 5 {
				t.Errorf("%d objects are red, %v", len(red), err)
			}
			for informer.LastSyncResourceVersion() != last.GetResourceVersion() && ctx.Err() == nil { // the informer sets it after the index
				time.Sleep(time.Millisecond)
			}
			if got := informer.LastSyncResourceVersion(); got != last.GetResourceVersion() {
				t.Errorf("the informer is at %s, and the last write was %s", got, last.GetResourceVersion())
			}
			if streamed := a.how("streamed list") > 0; streamed == listsFirst {
				t.Errorf("it asked for %v", a.many)
			}
		})
	}
}

// TestPager reads a list page by page, and goes on after the first page became too old.
func TestPager(t *testing.T) {
	t.Parallel()
	s, widgets := start(t)
	ctx := t.Context()
	for i := range 25 {
		must[*unstructured.Unstructured](t)(widgets.Create(ctx, widget(fmt.Sprintf("w%02d", i), nil), metav1.CreateOptions{}))
	}
	pages := 0
	p := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		pages++
		return widgets.List(ctx, o)
	})
	p.PageSize = 10
	var names []string
	err := p.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		names = append(names, o.(*unstructured.Unstructured).GetName())
		return nil
	})
	if err != nil || len(names) != 25 || names[24] != "w24" || pages != 3 {
		t.Errorf("%d pages have %v, %v", pages, names, err)
	}

	pages = 0
	p.PageFn = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		if pages++; pages == 2 {
			must[*unstructured.Unstructured](t)(widgets.Create(ctx, widget("w25", nil), metav1.CreateOptions{}))
			s.Expire()
		}
		return widgets.List(ctx, o)
	}
	list, paginated, err := p.List(ctx, metav1.ListOptions{})
	if err != nil || !paginated || pages != 3 {
		t.Fatalf("when the second page is too old: %d pages, %v, %v", pages, paginated, err)
	}
	if n := len(list.(*unstructured.UnstructuredList).Items); n != 26 {
		t.Errorf("the whole list has %d objects", n)
	}
}
