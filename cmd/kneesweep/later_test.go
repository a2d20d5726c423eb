package main

import "testing"

// What the cases ask of parts that the program does not have yet.

// A key stands in no HTML report (NVIDIA-NeMo/Guardrails#1501).
func TestSecretsStaySecretLater(t *testing.T) {
	for name, part := range map[string]string{
		"html": "the HTML report",
	} {
		t.Run(name, func(t *testing.T) { t.Skip("waits for " + part + ", which cannot hold a key before it exists") })
	}
}
