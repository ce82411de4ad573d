package ownership_test

import (
	"fmt"

	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// exampleObject is what kubectl's client-side apply and an autoscaler have written.
func exampleObject() managedfields.Object {
	o, err := managedfields.ParseObject([]byte(`{
		"apiVersion": "example.com/v1", "kind": "Thing",
		"metadata": {"name": "one", "resourceVersion": "7", "managedFields": [
			{"manager": "autoscaler", "operation": "Apply", "apiVersion": "example.com/v1", "fieldsType": "FieldsV1",
			 "fieldsV1": {"f:spec":{"f:replicas":{}}}},
			{"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "example.com/v1", "fieldsType": "FieldsV1",
			 "fieldsV1": {"f:spec": {"f:args": {}, "f:quota": {"f:cpu": {}}}}}]},
		"spec": {"args": ["-v"], "quota": {"cpu": "1"}, "replicas": 3}}`))
	if err != nil {
		panic(err)
	}
	return o
}

func ExampleExtract() {
	config, err := ownership.Extract(exampleObject(), kindtest.Type, "autoscaler", "")
	fmt.Println(config, err)
	// Output: {"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"one"},"spec":{"replicas":3}} <nil>
}

func ExampleMigrate() {
	o := exampleObject()
	entries, err := ownership.Migrate(o, nil, []string{"kubectl-client-side-apply"}, "kubectl", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range entries {
		fmt.Println(e.Manager, e.Operation, e.FieldsV1.String())
	}
	// Output:
	// autoscaler Apply {"f:spec":{"f:replicas":{}}}
	// kubectl Apply {"f:spec":{"f:args":{},"f:quota":{"f:cpu":{}}}}
}

func ExamplePlanMigration() {
	m := kindtest.Manager(nil)
	config, _ := managedfields.ParseObject([]byte(`{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "one"}, "spec": {"args": ["-v"]}}`))
	plan, err := ownership.PlanMigration(m, exampleObject(), config, []string{"kubectl-client-side-apply"}, "kubectl")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range plan.Removed {
		fmt.Println("the next apply removes", l.Path, l.Live)
	}
	// Output: the next apply removes .spec.quota.cpu "1"
}

func ExampleApplyAsKubectl() {
	const live = `{
		"apiVersion": "example.com/v1", "kind": "Thing",
		"metadata": {"name": "one", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}, "managedFields": [
			{"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "example.com/v1", "fieldsType": "FieldsV1",
			 "fieldsV1": {"f:metadata": {"f:annotations": {"f:kubectl.kubernetes.io/last-applied-configuration": {}}}, "f:spec": {"f:args": {}, "f:replicas": {}}}}]},
		"spec": {"args": ["-v"], "replicas": 3}}`
	o, err := managedfields.ParseObject([]byte(live))
	if err != nil {
		fmt.Println(err)
		return
	}
	config, _ := managedfields.ParseObject([]byte(`{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "one"}, "spec": {"args": ["-v"]}}`))
	sent, err := ownership.ApplyAsKubectl(kindtest.Manager(nil), o, config, "kubectl", false)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range sent {
		fmt.Println(r.Name, "as", r.Manager, r.Object.Content.Get("spec"))
	}
	// Output:
	// apply as kubectl {"args":["-v"],"replicas":3}
	// save record as kubectl-last-applied {"args":["-v"],"replicas":3}
	// migrate as kubectl {"args":["-v"],"replicas":3}
	// apply again as kubectl {"args":["-v"]}
}

func ExampleTransfer() {
	autoscaler := merge.Manager{Name: "autoscaler", Operation: merge.Apply}
	entries, err := ownership.Transfer(exampleObject(), nil, autoscaler, merge.Manager{Name: "people", Operation: merge.Apply})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(entries[0].Manager, entries[0].FieldsV1.String())
	// Output: people {"f:spec":{"f:replicas":{}}}
}

func ExampleEntriesPatch() {
	patch, _, err := ownership.EntriesPatch(exampleObject(), nil)
	fmt.Println(string(patch), err)
	// Output: [{"op":"replace","path":"/metadata/managedFields","value":[]},{"op":"replace","path":"/metadata/resourceVersion","value":"7"}] <nil>
}

func ExampleOwners() {
	owned, err := ownership.Owners(exampleObject(), kindtest.Type, nil)
	if err != nil {
		fmt.Println(err)
	}
	for part := range owned {
		for _, owner := range part.Owners {
			fmt.Println(part.Path, part.Value, owner.Manager.Name)
		}
	}
	// Output:
	// .spec.args ["-v"] kubectl-client-side-apply
	// .spec.args[0] "-v" kubectl-client-side-apply
	// .spec.quota.cpu "1" kubectl-client-side-apply
	// .spec.replicas 3 autoscaler
}

func ExampleCheck() {
	for _, f := range ownership.Check(exampleObject(), ownership.CheckConfig{
		Versions: ownership.Versions{Types: map[string]*schema.Type{"example.com/v1": kindtest.Type}},
	}) {
		fmt.Println(f)
		fmt.Println(f.Remedy)
	}
	// Output:
	// client-side-apply: metadata.managedFields[1], manager "kubectl-client-side-apply": client-side apply holds 2 fields
	// Fields stay when a manifest that is applied server-side drops them. Migrate them to the applier.
}

func ExampleWouldChange() {
	config := value.Object(
		value.Member{Name: "apiVersion", Value: value.String("example.com/v1")},
		value.Member{Name: "kind", Value: value.String("Thing")},
		value.Member{Name: "spec", Value: value.Object(
			value.Member{Name: "quota", Value: value.Object(value.Member{Name: "cpu", Value: value.String("1000m")})},
		)},
	)
	change, err := ownership.WouldChange(kindtest.Manager(nil), exampleObject(), managedfields.Object{Content: config}, "people")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range change.Notations {
		fmt.Println(n.Path, n.Live, n.Wanted, change.NotationOnly)
	}
	// Output: .spec.quota.cpu "1" "1000m" true
}
