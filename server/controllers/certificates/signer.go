// Package certificates signs approved requests for certificates, as the controller certificatesigningrequest-signing-controller of
// kube-controller-manager does. It serves the four signers of Kubernetes that have to do with the API server and with kubelets.
package certificates

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/controllers/queue"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Authority signs certificates. The zero Authority is none.
type Authority struct {
	Certificate *x509.Certificate
	Key         crypto.Signer
	// Duration is the longest time that certificates hold; 0 is [DefaultDuration]. A request may ask for less.
	Duration time.Duration
}

// DefaultDuration is how long certificates hold, as in kube-controller-manager.
const DefaultDuration = 365 * 24 * time.Hour

const (
	// backdate is how long before now a certificate begins, for clients whose clocks are behind.
	backdate = 5 * time.Minute
	// short is the time below which a certificate ends as late as it was asked for, although it begins earlier.
	short = 8 * time.Hour
	// shortest is the least time that a certificate holds.
	shortest = 10 * time.Minute
)

// Signer is the controller. Its fields are set before Run.
type Signer struct {
	Authority
	Requests *catalog.Resource // certificatesigningrequests
	Store    store.Store
	Client   *loopback.Client
	Now      func() time.Time
	Report   func(what string, err error)
}

// Run signs requests until ctx ends.
func (s Signer) Run(ctx context.Context) {
	(&queue.Controller[string]{
		Name: "the signer of certificates", Store: s.Store, Report: s.Report, Work: s.work, Sources: []queue.Source[string]{{
			Prefix: s.Requests.Prefix,
			Items: func(e store.Event) []string {
				if e.Deleted {
					return nil
				}
				return []string{strings.TrimPrefix(e.Key, s.Requests.Prefix)}
			},
		}},
	}).Run(ctx)
}

// work signs a request, or says in its status why it is not signed. Requests for other signers stay as they are.
func (s Signer) work(ctx context.Context, name string) error {
	record, err := s.Store.Get(ctx, s.Requests.Key("", name), 0)
	if err != nil {
		return loopback.IgnoreNotFound(err)
	}
	stored, err := managedfields.ParseObject(record.Text)
	if err != nil {
		return err
	}
	var request certificatesv1.CertificateSigningRequest
	if err := structs.Into(stored.Content, &request); err != nil {
		return err
	}
	check := signers[request.Spec.SignerName]
	if check == nil || !isDue(&request) {
		return nil
	}
	asked, err := parsed(request.Spec.Request)
	if err != nil {
		return fmt.Errorf("unable to parse csr %q: %w", name, err)
	}
	status := stored.Content.Get("status")
	if status.Kind() != value.KindObject {
		status = value.Object()
	}
	if wrong := check(asked, request.Spec.Usages); wrong != nil {
		conditions := slices.Collect(status.Get("conditions").Items())
		status = status.With("conditions", value.List(append(conditions, failure(wrong.Error(), s.Now()))...))
	} else {
		signed, err := s.sign(asked, request.Spec.Usages, request.Spec.ExpirationSeconds)
		if err != nil {
			return fmt.Errorf("error auto signing csr: %w", err)
		}
		status = status.With("certificate", value.String(base64.StdEncoding.EncodeToString(signed)))
	}
	body := api.WithMetadata(stored.Content.With("status", status), "resourceVersion", value.String(fmt.Sprint(record.Revision)))
	path := loopback.CollectionPath(s.Requests.Versions[0], "") + "/" + name + "/status?fieldManager=kube-controller-manager"
	if err = s.Client.Send(ctx, http.MethodPut, path, body); apierrors.IsConflict(err) {
		return nil // the other write makes the request due again
	}
	return loopback.IgnoreNotFound(err)
}

// isDue reports whether a request is approved, and neither signed nor failed.
func isDue(r *certificatesv1.CertificateSigningRequest) bool {
	has := func(of certificatesv1.RequestConditionType) bool {
		return slices.ContainsFunc(r.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool { return c.Type == of })
	}
	failed := slices.ContainsFunc(r.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool {
		return c.Type == certificatesv1.CertificateFailed && (c.Status == "" || c.Status == "True")
	})
	return has(certificatesv1.CertificateApproved) && !has(certificatesv1.CertificateDenied) && !failed && len(r.Status.Certificate) == 0
}

// failure returns the condition of a request that the signer refuses.
func failure(message string, now time.Time) value.Value {
	text := func(name, s string) value.Member { return value.Member{Name: name, Value: value.String(s)} }
	return value.Object(text("type", "Failed"), text("status", "True"), text("reason", "SignerValidationFailure"), text("message", message),
		text("lastUpdateTime", api.Timestamp(now)))
}

// parsed returns the PKCS#10 request in a PEM text.
func parsed(text []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}

// sign returns a certificate in PEM, with the names and the key of a request.
//
// It has no extensions of the request. It ends with the authority, at the latest.
func (s Signer) sign(asked *x509.CertificateRequest, usages []certificatesv1.KeyUsage, seconds *int32) ([]byte, error) {
	if err := asked.CheckSignature(); err != nil {
		return nil, fmt.Errorf("unable to verify certificate request signature: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return nil, err
	}
	now, ends := s.Now(), s.Authority.Certificate.NotAfter
	out := &x509.Certificate{
		SerialNumber: serial, Subject: asked.Subject, DNSNames: asked.DNSNames, IPAddresses: asked.IPAddresses,
		EmailAddresses: asked.EmailAddresses, URIs: asked.URIs, BasicConstraintsValid: true, NotBefore: now.Add(-backdate),
	}
	if out.KeyUsage, out.ExtKeyUsage, err = usagesOf(usages); err != nil {
		return nil, err
	}
	holds := s.duration(seconds)
	if out.NotAfter = now.Add(holds); holds >= short {
		out.NotAfter = out.NotAfter.Add(-backdate)
	}
	if out.NotAfter.After(ends) {
		out.NotAfter = ends
	}
	if !now.Before(ends) {
		return nil, fmt.Errorf("the signer has expired: NotAfter=%v", ends)
	}
	der, err := x509.CreateCertificate(rand.Reader, out, s.Authority.Certificate, asked.PublicKey, s.Key)
	if err != nil {
		return nil, fmt.Errorf("failed to sign certificate: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// duration returns how long a certificate holds that is requested for some seconds.
func (s Signer) duration(seconds *int32) time.Duration {
	longest := s.Duration
	if longest == 0 {
		longest = DefaultDuration
	}
	if seconds == nil {
		return longest
	}
	asked := time.Duration(*seconds) * time.Second
	if asked > longest {
		return longest
	}
	return max(asked, shortest)
}
