"""P4Runtime's entities: conversion of messages to calls of the engine, and back."""
