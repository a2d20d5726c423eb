package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"
)

// tlsFlags say whom to trust and who we are.
func tlsFlags(category string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Category: category, Name: "ca-cert", Usage: "trust the certificate authorities in `FILE` (PEM) beside those of the system"},
		&cli.StringFlag{Category: category, Name: "client-cert", Usage: "show the certificate in `FILE` (PEM)"},
		&cli.StringFlag{Category: category, Name: "client-key", Usage: "its private key, `FILE` (PEM)"},
		&cli.BoolFlag{Category: category, Name: "insecure", Usage: "do not check the certificate of the server: whoever answers gets the key and the prompts"},
	}
}

// tlsConfig reads the files; nil when no flag is given.
func tlsConfig(c *cli.Context) (*tls.Config, error) {
	ca, cert, key := c.String("ca-cert"), c.String("client-cert"), c.String("client-key")
	insecure := c.Bool("insecure")
	switch {
	case ca == "" && cert == "" && key == "" && !insecure:
		return nil, nil
	case ca != "" && insecure:
		return nil, errors.New("--insecure and --ca-cert: give one of them; no certificate is checked against authorities that are not asked")
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: insecure} //nolint:gosec // the user asks for it and is warned
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("--ca-cert: %w", err)
		}
		if conf.RootCAs, err = x509.SystemCertPool(); err != nil {
			conf.RootCAs = x509.NewCertPool()
		}
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--ca-cert: %s holds no PEM certificate", ca)
		}
	}
	if (cert == "") != (key == "") {
		return nil, errors.New("--client-cert and --client-key: give both")
	}
	if cert != "" {
		pair, err := clientPair(cert, key)
		if err != nil {
			return nil, err
		}
		conf.Certificates = []tls.Certificate{pair}
	}
	return conf, nil
}

// clientPair reads a certificate and its key, and names the one of them that is wrong.
func clientPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := os.ReadFile(certFile)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("--client-cert: %w", err)
	}
	key, err := os.ReadFile(keyFile)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("--client-key: %w", err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(cert) {
		return tls.Certificate{}, fmt.Errorf("--client-cert: %s holds no PEM certificate", certFile)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("--client-key: %s: %w", keyFile, err)
	}
	return pair, nil
}
