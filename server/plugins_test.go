package server

import (
	"fmt"
	"strings"
	"testing"
)

// TestChosenPlugins switches plugins on and off with the flags of kube-apiserver, and refuses names with its texts.
func TestChosenPlugins(t *testing.T) {
	const signers = " CertificateApproval CertificateSigning ClusterTrustBundleAttest"
	const usual = "NamespaceLifecycle TaintNodesByCondition Priority DefaultTolerationSeconds StorageObjectInUseProtection" +
		signers + " PodTopologyLabels NodeDeclaredFeatureValidator PodResizeValidator MutatingAdmissionPolicy ValidatingAdmissionPolicy"
	for _, c := range []struct{ enable, disable, want, err string }{
		{"", "", usual, ""},
		{"LimitRanger Priority", "DefaultTolerationSeconds ValidatingAdmissionWebhook",
			"NamespaceLifecycle LimitRanger TaintNodesByCondition Priority StorageObjectInUseProtection" + signers + " PodTopologyLabels NodeDeclaredFeatureValidator PodResizeValidator MutatingAdmissionPolicy " +
				"ValidatingAdmissionPolicy", ""},
		{"", "MutatingAdmissionPolicy ValidatingAdmissionPolicy",
			"NamespaceLifecycle TaintNodesByCondition Priority DefaultTolerationSeconds StorageObjectInUseProtection" + signers + " PodTopologyLabels NodeDeclaredFeatureValidator PodResizeValidator", ""},
		{"ResourceQuoter", "", usual, `enable-admission-plugins plugin "ResourceQuoter" is unknown`},
		{"ResourceQuota", "", usual + " ResourceQuota", ""},
		{"", "X", usual, `disable-admission-plugins plugin "X" is unknown`},
		{"PodSecurity LimitRanger", "PodSecurity LimitRanger", usual,
			"[LimitRanger PodSecurity] in enable-admission-plugins and disable-admission-plugins overlapped"},
	} {
		first, last, err := chosenPlugins(strings.Fields(c.enable), strings.Fields(c.disable))
		var names []string
		for _, p := range append(first, last...) {
			names = append(names, p.name)
		}
		if got := strings.Join(names, " "); got != c.want || c.err == "" && err != nil || c.err != "" && fmt.Sprint(err) != c.err {
			t.Errorf("with %s and without %s: %s, want %s; error %v, want %s", c.enable, c.disable, got, c.want, err, c.err)
		}
	}
	if _, err := New(Config{EnableAdmissionPlugins: []string{"X"}}); err == nil {
		t.Error("a server with an unknown plugin starts")
	}
}
