package managedfields_test

import (
	"testing"
)

// Failures name the new object in the version of the endpoint, whatever version it was sent in.
func TestUpdateFailuresNameTheEndpointsVersion(t *testing.T) {
	live := parseObject(t, `{"apiVersion":"g/v2","kind":"K","metadata":{"managedFields":[
		{"manager":"alpha","operation":"Update","apiVersion":"a/b/c","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]}}`)
	_, err := schemalessManager(t, nil).Update(live, parseObject(t, `{"apiVersion":"g/v2","kind":"K","metadata":{"name":"n"}}`), "beta")
	const want = "failed to update ManagedFields (/n; g/v1, Kind=K): unexpected GroupVersion string: a/b/c"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
