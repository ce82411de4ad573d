package server_test

import (
	"testing"

	"github.com/deed-project/deed/internal/layers"
)

// table is the dependency policy of this module.
var table = []layers.Layer{
	{"store", "", "", ""},
	{"store/history", "store", "", ""},
	{"store/memory", "store/history", "", ""},
	{"store/file", "store store/history", "", "go.etcd.io/bbolt"},
	{"store/etcd", "store", "", "go.etcd.io/etcd/api/v3 go.etcd.io/etcd/client go.uber.org/zap google.golang.org/grpc/metadata"},
	{"cache", "", "", ""},
	{"memo", "cache", "", ""},
	{"structsize", "", "", "google.golang.org/protobuf/encoding/protowire"},
	{"kjson", "structsize", "", "sigs.k8s.io/json"},
	{"logs", "", "", "k8s.io/apimachinery/pkg/api/errors k8s.io/apimachinery/pkg/util/validation/field"},
	{"structural/rules", "api memo", "value internal/beside",
		"k8s.io/apiextensions-apiserver k8s.io/apimachinery k8s.io/apiserver k8s.io/kube-openapi github.com/go-openapi/swag/conv github.com/google/cel-go"},
	{"store/storetest", "store", "internal/seeds", "github.com/anishathalye/porcupine"},
	{"api", "", "value value/structs managedfields", "k8s.io/apimachinery"},
	{"catalog", "api", "value fieldpath schema managedfields", "k8s.io/apimachinery k8s.io/api"},
	{"catalog/tables", "catalog", "value value/structs schema schema/builtin", "k8s.io/apimachinery k8s.io/api/autoscaling/v1"},
	{"catalog/validation", "", "value", "k8s.io/apimachinery k8s.io/utils/net github.com/robfig/cron/v3"},
	{"catalog/builtin", "api catalog catalog/tables catalog/validation kjson", "value value/structs fieldpath schema merge managedfields schema/builtin schema/form",
		"k8s.io/apimachinery k8s.io/api k8s.io/apiserver/pkg/endpoints/deprecation"},
	{"catalog/crd", "api catalog catalog/builtin catalog/tables memo structural/rules",
		"value fieldpath schema managedfields schema/openapi schema/structural internal/custom internal/door",
		"k8s.io/apimachinery k8s.io/apiextensions-apiserver k8s.io/apiserver/pkg/cel/environment k8s.io/kube-openapi golang.org/x/sync/semaphore"},
	{"catalog/openapi", "catalog", "schema value", "k8s.io/apimachinery"},
	{"jsonpath", "", "value", "k8s.io/client-go/util/jsonpath"},
	{"wire", "api catalog jsonpath kjson memo structsize", "value value/structs schema managedfields internal/slab",
		"k8s.io/apimachinery sigs.k8s.io/yaml github.com/klauspost/compress/flate"},
	{"admission", "", "value managedfields", "k8s.io/apimachinery"},
	{"hookclient", "", "", "k8s.io/apimachinery k8s.io/apiserver/pkg/util/webhook k8s.io/client-go/rest k8s.io/klog/v2"},
	{"admission/webhook", "admission api hookclient jsonpatch logs", "value value/structs",
		"k8s.io/api k8s.io/apimachinery k8s.io/apiserver"},
	{"conversion", "api hookclient", "value", "k8s.io/apiextensions-apiserver k8s.io/apimachinery k8s.io/apiserver/pkg/util/webhook"},
	{"strategic", "", "value", "k8s.io/apimachinery"},
	{"jsonpatch", "", "value internal/jsontext", "gopkg.in/evanphx/json-patch.v4"},
	{"rest/read", "api cache catalog store wire", "value managedfields internal/beside internal/jsontext", "k8s.io/apimachinery"},
	{"rest", "admission api catalog jsonpatch kjson rest/read store strategic structsize wire", "value value/structs schema schema/form managedfields internal/door internal/mergepatch",
		"k8s.io/apimachinery"},
	{"transport", "", "internal/slab", ""},
	{"rest/watch", "api cache catalog logs request response rest rest/read store wire", "value value/structs", "k8s.io/apimachinery golang.org/x/net/websocket"},
	{"auth", "api catalog logs", "value value/structs", "k8s.io/api k8s.io/apimachinery k8s.io/apiserver/pkg/authentication"},
	{"request", "api auth", "", ""},
	{"response", "api logs store wire", "", ""},
	{"metrics", "api catalog request store", "", "k8s.io/apimachinery github.com/prometheus/client_golang"},
	{"audit", "admission auth logs", "", "k8s.io/apimachinery"},
	{"filters", "api auth catalog logs metrics request response wire", "", "k8s.io/apimachinery"},
	{"loopback", "auth catalog request store", "value", "k8s.io/apimachinery"},
	{"discovery", "api cache catalog catalog/openapi logs response store wire", "",
		"k8s.io/apimachinery github.com/google/gnostic-models google.golang.org/protobuf"},
	{"registry", "catalog store", "value managedfields", ""},
	{"registry/namespaces", "admission registry store", "value managedfields", "k8s.io/apimachinery"},
	{"registry/pods", "admission registry store", "value managedfields", "k8s.io/apimachinery"},
	{"registry/services", "catalog registry store", "value", ""},
	{"registry/unenforced", "admission catalog logs registry store", "", "k8s.io/apimachinery"},
	{"registry/webhooks", "admission admission/webhook api catalog", "value", "k8s.io/apimachinery"},
	{"controllers", "admission/webhook api catalog catalog/crd conversion logs loopback registry registry/webhooks store", "value managedfields",
		"k8s.io/apimachinery k8s.io/client-go/util/workqueue"},
	{".", "admission admission/webhook api audit auth catalog catalog/builtin catalog/crd catalog/tables controllers conversion discovery filters logs " +
		"loopback metrics registry registry/namespaces registry/pods registry/services registry/unenforced registry/webhooks request response rest rest/read rest/watch store " +
		"store/memory transport wire",
		"value schema managedfields",
		"k8s.io/apimachinery k8s.io/client-go/tools/clientcmd"},
	{"manifest", "", "value internal/custom internal/folder internal/yaml", ""},
	{"apitest", ". admission auth filters manifest memo store store/memory", "value", "k8s.io/client-go/rest k8s.io/apimachinery/pkg/apis/meta/v1"},
	{"hostile", "", "", ""},
	{"hostile/attack", "hostile", "", ""},
	{"cmd/deed-apiserver", ". auth filters logs manifest registry/unenforced store store/etcd store/file", "internal/build", "github.com/spf13/cobra github.com/spf13/pflag"},
}

func TestImports(t *testing.T) { layers.Check(t, layers.Root+"/server", table) }
